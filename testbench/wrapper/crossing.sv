// crossing
//
// A test of `axi_lite_crossing` by itself: a manager that writes and reads at random, a subordinate
// with a memory, two clocks, random stalls, and resets of either side. Ends with `$fatal` if
// anything is wrong. The plus arguments are those of the `initial` block below.

`timescale 1ps / 1ps
`default_nettype none

module crossing;

  localparam integer WORDS = 32;
  localparam [1:0] SLVERR = 2'd2;

  integer s_half = 5000;    // half a period of the manager's clock, in ps
  integer m_half = 5000;    // the same of the subordinate's
  integer drift = 0;        // each half period may be longer by so much
  integer transfers = 100;  // writes, and as many reads
  integer stall = 4;        // longest wait of either end, in cycles
  integer resets = 0;       // resets while they go on
  integer seed = 1;
  initial begin
    if ($value$plusargs("s_half=%d", s_half)) begin end
    if ($value$plusargs("m_half=%d", m_half)) begin end
    if ($value$plusargs("drift=%d", drift)) begin end
    if ($value$plusargs("transfers=%d", transfers)) begin end
    if ($value$plusargs("stall=%d", stall)) begin end
    if ($value$plusargs("resets=%d", resets)) begin end
    if ($value$plusargs("seed=%d", seed)) begin end
  end

  function automatic integer random(input integer below);
    random = below <= 0 ? 0 : $unsigned($random(seed)) % below;
  endfunction

  reg s_clk = 1'b0;
  reg m_clk = 1'b0;
  initial forever #(s_half + random(drift + 1)) s_clk = ~s_clk;
  initial forever #(m_half + random(drift + 1)) m_clk = ~m_clk;
  integer s_cycles = 0;
  always @(posedge s_clk) s_cycles = s_cycles + 1;

  // What a cycle of the slower clock takes at most.
  function integer slower(input integer unused);
    slower = 2 * ((s_half > m_half ? s_half : m_half) + drift);
  endfunction

  reg s_aresetn = 1'b0;
  reg m_aresetn = 1'b0;

  reg s_awvalid = 1'b0;
  wire s_awready;
  reg [11:0] s_awaddr;
  reg s_wvalid = 1'b0;
  wire s_wready;
  reg [31:0] s_wdata;
  reg [3:0] s_wstrb;
  wire s_bvalid;
  reg s_bready = 1'b0;
  wire [1:0] s_bresp;
  reg s_arvalid = 1'b0;
  wire s_arready;
  reg [11:0] s_araddr;
  wire s_rvalid;
  reg s_rready = 1'b0;
  wire [31:0] s_rdata;
  wire [1:0] s_rresp;
  wire m_awvalid;
  reg m_awready;
  wire [11:0] m_awaddr;
  wire m_wvalid;
  reg m_wready;
  wire [31:0] m_wdata;
  wire [3:0] m_wstrb;
  reg m_bvalid;
  wire m_bready;
  reg [1:0] m_bresp;
  wire m_arvalid;
  reg m_arready;
  wire [11:0] m_araddr;
  reg m_rvalid;
  wire m_rready;
  reg [31:0] m_rdata;
  reg [1:0] m_rresp;

  axi_lite_crossing #(
      .ADDRESS (12),
      .DATA    (32)
  ) dut (
      .s_axi_aclk    (s_clk),
      .s_axi_aresetn (s_aresetn),
      .s_axi_awvalid (s_awvalid),
      .s_axi_awready (s_awready),
      .s_axi_awaddr  (s_awaddr),
      .s_axi_wvalid  (s_wvalid),
      .s_axi_wready  (s_wready),
      .s_axi_wdata   (s_wdata),
      .s_axi_wstrb   (s_wstrb),
      .s_axi_bvalid  (s_bvalid),
      .s_axi_bready  (s_bready),
      .s_axi_bresp   (s_bresp),
      .s_axi_arvalid (s_arvalid),
      .s_axi_arready (s_arready),
      .s_axi_araddr  (s_araddr),
      .s_axi_rvalid  (s_rvalid),
      .s_axi_rready  (s_rready),
      .s_axi_rdata   (s_rdata),
      .s_axi_rresp   (s_rresp),
      .m_axi_aclk    (m_clk),
      .m_axi_aresetn (m_aresetn),
      .m_axi_awvalid (m_awvalid),
      .m_axi_awready (m_awready),
      .m_axi_awaddr  (m_awaddr),
      .m_axi_wvalid  (m_wvalid),
      .m_axi_wready  (m_wready),
      .m_axi_wdata   (m_wdata),
      .m_axi_wstrb   (m_wstrb),
      .m_axi_bvalid  (m_bvalid),
      .m_axi_bready  (m_bready),
      .m_axi_bresp   (m_bresp),
      .m_axi_arvalid (m_arvalid),
      .m_axi_arready (m_arready),
      .m_axi_araddr  (m_araddr),
      .m_axi_rvalid  (m_rvalid),
      .m_axi_rready  (m_rready),
      .m_axi_rdata   (m_rdata),
      .m_axi_rresp   (m_rresp)
  );

  // The subordinate. A write is answered by what its address says; a read gives the word, and which
  // read it is, so that none is lost or done twice unseen.
  reg [31:0] memory [0:WORDS-1];
  reg has_aw = 1'b0;
  reg has_w = 1'b0;
  reg has_ar = 1'b0;
  reg [11:0] at;
  reg [11:0] read_at;
  reg [31:0] data;
  reg [3:0] strobe;
  integer written = 0;
  integer read = 0;
  integer wait_b = 0;
  integer wait_r = 0;
  integer bit_of;

  function [1:0] answer(input [11:0] address);
    answer = address[2] ? 2'd3 : 2'd0;
  endfunction

  function [31:0] word(input integer number, input [11:0] address);
    word = {number[19:0], address};
  endfunction

  always @(posedge m_clk) begin
    if (!m_aresetn) begin
      m_awready <= 1'b0;
      m_wready <= 1'b0;
      m_bvalid <= 1'b0;
      m_arready <= 1'b0;
      m_rvalid <= 1'b0;
      has_aw = 1'b0;
      has_w = 1'b0;
      has_ar = 1'b0;
    end else begin
      if (m_bvalid & m_bready) m_bvalid <= 1'b0;
      if (m_rvalid & m_rready) m_rvalid <= 1'b0;
      if (m_awvalid & m_awready) begin
        if (has_aw) $fatal(1, "two write addresses for one write");
        has_aw = 1'b1;
        at = m_awaddr;
        wait_b = random(stall + 1);
      end
      if (m_wvalid & m_wready) begin
        if (has_w) $fatal(1, "data twice for one write");
        has_w = 1'b1;
        data = m_wdata;
        strobe = m_wstrb;
      end
      if (m_arvalid & m_arready) begin
        if (has_ar) $fatal(1, "two addresses for one read");
        has_ar = 1'b1;
        read_at = m_araddr;
        wait_r = random(stall + 1);
      end
      if (has_aw & has_w & (wait_b == 0)) begin
        for (bit_of = 0; bit_of < 32; bit_of = bit_of + 1)
          if (strobe[bit_of/8]) memory[at[6:2]][bit_of] = data[bit_of];
        written = written + 1;
        has_aw = 1'b0;
        has_w = 1'b0;
        m_bvalid <= 1'b1;
        m_bresp <= answer(at);
      end else if (wait_b > 0) wait_b = wait_b - 1;
      if (has_ar & (wait_r == 0)) begin
        read = read + 1;
        has_ar = 1'b0;
        m_rvalid <= 1'b1;
        m_rdata <= word(read, read_at);
        m_rresp <= answer(read_at);
      end else if (wait_r > 0) wait_r = wait_r - 1;
      m_awready <= ~has_aw & (random(stall + 1) == 0);
      m_wready <= ~has_w & (random(stall + 1) == 0);
      m_arready <= ~has_ar & (random(stall + 1) == 0);
    end
  end

  // The manager's writes.
  reg [31:0] expected [0:WORDS-1];
  integer m_resets = 0;  // resets of the subordinate's side so far
  integer asked_writes = 0;
  integer asked_reads = 0;
  integer done_writes = 0;
  integer done_reads = 0;
  integer refused = 0;
  integer dropped = 0;
  reg writes_end = 1'b0;
  reg reads_end = 1'b0;

  task automatic write;
    reg [11:0] address;
    reg [31:0] value, was, wanted;
    reg [3:0] bytes;
    reg aw_done, w_done, b_done, cut;
    integer wait_aw, wait_w, wait_answer, resets_before, number;
    begin
      address = random(WORDS) * 4;
      value = $random(seed);
      bytes = random(16);
      was = expected[address[6:2]];
      wanted = was;
      for (number = 0; number < 32; number = number + 1)
        if (bytes[number/8]) wanted[number] = value[number];
      wait_aw = random(stall + 1);
      wait_w = random(stall + 1);
      wait_answer = random(stall + 1);
      aw_done = 1'b0;
      w_done = 1'b0;
      b_done = 1'b0;
      cut = 1'b0;
      resets_before = m_resets - (m_aresetn ? 0 : 1);
      asked_writes = asked_writes + 1;
      if (stall == 0) s_bready <= 1'b1;
      while (!b_done && !cut) begin
        if (!aw_done && !s_awvalid) begin
          if (wait_aw == 0) begin
            s_awvalid <= 1'b1;
            s_awaddr <= address;
          end
          wait_aw = wait_aw - 1;
        end
        if (!w_done && !s_wvalid) begin
          if (wait_w == 0) begin
            s_wvalid <= 1'b1;
            s_wdata <= value;
            s_wstrb <= bytes;
          end
          wait_w = wait_w - 1;
        end
        @(posedge s_clk);
        if (!s_aresetn) cut = 1'b1;
        else begin
          if (s_bvalid && !(aw_done && w_done)) $fatal(1, "a write is answered before it was taken");
          if (s_bvalid & s_bready) begin
            b_done = 1'b1;
            if (stall > 0) s_bready <= 1'b0;
          end else if (aw_done && w_done && stall > 0) begin
            if (wait_answer == 0) s_bready <= 1'b1;
            wait_answer = wait_answer - 1;
          end
          if (s_awvalid & s_awready) begin
            aw_done = 1'b1;
            s_awvalid <= 1'b0;
            s_awaddr <= 12'hxxx;
          end
          if (s_wvalid & s_wready) begin
            w_done = 1'b1;
            s_wvalid <= 1'b0;
            s_wdata <= 32'hxxxxxxxx;
            s_wstrb <= 4'hx;
          end
        end
      end
      if (cut) begin
        // It may have been done or not: what was begun is ended before anything else.
        dropped = dropped + 1;
        s_awvalid <= 1'b0;
        s_wvalid <= 1'b0;
        s_bready <= 1'b0;
        wait (s_aresetn && m_aresetn);
        #(200 * slower(0));
        @(posedge s_clk);
      end else if (s_bresp === SLVERR) begin
        if (m_resets == resets_before) $fatal(1, "a write is refused, and nothing was reset");
        refused = refused + 1;
        wait (m_aresetn);
      end else begin
        if (s_bresp !== answer(address)) $fatal(1, "a write is answered with %b", s_bresp);
        if (memory[address[6:2]] !== wanted)
          $fatal(1, "a write left %h, not %h, at %h", memory[address[6:2]], wanted, address);
        done_writes = done_writes + 1;
      end
      if ((memory[address[6:2]] !== wanted) && (memory[address[6:2]] !== was))
        $fatal(1, "half a write left %h at %h", memory[address[6:2]], address);
      expected[address[6:2]] = memory[address[6:2]];
    end
  endtask

  task automatic read_one;
    reg [11:0] address;
    reg ar_done, r_done, cut;
    integer wait_ar, wait_answer, resets_before, reads_so_far;
    begin
      address = random(WORDS) * 4;
      wait_ar = random(stall + 1);
      wait_answer = random(stall + 1);
      ar_done = 1'b0;
      r_done = 1'b0;
      cut = 1'b0;
      reads_so_far = read;
      resets_before = m_resets - (m_aresetn ? 0 : 1);
      asked_reads = asked_reads + 1;
      if (stall == 0) s_rready <= 1'b1;
      while (!r_done && !cut) begin
        if (!ar_done && !s_arvalid) begin
          if (wait_ar == 0) begin
            s_arvalid <= 1'b1;
            s_araddr <= address;
          end
          wait_ar = wait_ar - 1;
        end
        @(posedge s_clk);
        if (!s_aresetn) cut = 1'b1;
        else begin
          if (s_rvalid && !ar_done) $fatal(1, "a read is answered before it was taken");
          if (s_rvalid & s_rready) begin
            r_done = 1'b1;
            if (stall > 0) s_rready <= 1'b0;
          end else if (ar_done && stall > 0) begin
            if (wait_answer == 0) s_rready <= 1'b1;
            wait_answer = wait_answer - 1;
          end
          if (s_arvalid & s_arready) begin
            ar_done = 1'b1;
            s_arvalid <= 1'b0;
            s_araddr <= 12'hxxx;
          end
        end
      end
      if (cut) begin
        dropped = dropped + 1;
        s_arvalid <= 1'b0;
        s_rready <= 1'b0;
        wait (s_aresetn && m_aresetn);
        #(200 * slower(0));
        @(posedge s_clk);
      end else if (s_rresp === SLVERR) begin
        if (m_resets == resets_before) $fatal(1, "a read is refused, and nothing was reset");
        refused = refused + 1;
      end else begin
        if (s_rresp !== answer(address)) $fatal(1, "a read is answered with %b", s_rresp);
        if (s_rdata !== word(reads_so_far + 1, address))
          $fatal(1, "a read of %h gives %h, not %h", address, s_rdata, word(reads_so_far + 1, address));
        done_reads = done_reads + 1;
      end
      if (read > reads_so_far + 1) $fatal(1, "the subordinate was asked twice for one read");
    end
  endtask

  // A reset as long as it has to be.
  task automatic reset(input integer which);
    begin
      if (which != 1) begin
        @(posedge s_clk);
        s_aresetn <= 1'b0;
        if (which == 2) #(random(20) * slower(0));
      end
      if (which != 0) begin
        @(posedge m_clk);
        m_aresetn <= 1'b0;
        m_resets = m_resets + 1;
      end
      #(16 * slower(0));
      if (random(2) == 0) begin
        @(posedge s_clk);
        s_aresetn <= 1'b1;
        #(random(40) * slower(0));
        @(posedge m_clk);
        m_aresetn <= 1'b1;
      end else begin
        @(posedge m_clk);
        m_aresetn <= 1'b1;
        #(random(40) * slower(0));
        @(posedge s_clk);
        s_aresetn <= 1'b1;
      end
    end
  endtask

  integer done_resets = 0;
  integer first;
  integer write_cycles = 0;
  integer read_cycles = 0;
  initial begin
    for (first = 0; first < WORDS; first = first + 1) begin
      memory[first] = 32'd0;
      expected[first] = 32'd0;
    end
    #1;
    reset(2);
    fork
      begin
        write_cycles = s_cycles;
        repeat (transfers) write;
        write_cycles = s_cycles - write_cycles;
        writes_end = 1'b1;
      end
      begin
        read_cycles = s_cycles;
        repeat (transfers) read_one;
        read_cycles = s_cycles - read_cycles;
        reads_end = 1'b1;
      end
      while ((done_resets < resets) && !(writes_end || reads_end)) begin
        #(random(300) * slower(0));
        reset(random(3));
        done_resets = done_resets + 1;
      end
    join
    if (written > asked_writes) $fatal(1, "more writes arrived than were asked for");
    if (read > asked_reads) $fatal(1, "more reads arrived than were asked for");
    if ((resets == 0) && ((written != transfers) || (read != transfers)))
      $fatal(1, "%0d writes and %0d reads arrived", written, read);
    for (first = 0; first < WORDS; first = first + 1)
      if (memory[first] !== expected[first]) $fatal(1, "word %0d is wrong at the end", first);
    $display("passed: writes %0d, reads %0d, resets %0d, refused %0d, dropped %0d, cycles %0d %0d",
             done_writes, done_reads, done_resets, refused, dropped, write_cycles, read_cycles);
    $finish;
  end

  // Nothing waits for ever.
  integer at_last = 0;
  integer quiet = 0;
  initial forever begin
    #(100 * slower(0));
    if (at_last != done_writes + done_reads + refused + dropped) begin
      at_last = done_writes + done_reads + refused + dropped;
      quiet = 0;
    end else quiet = quiet + 1;
    if (quiet > 100) $fatal(1, "a transfer never ends");
  end

  // What is valid stays, and stays the same, until it is taken.
  reg was_aw = 1'b0;
  reg was_w = 1'b0;
  reg was_ar = 1'b0;
  reg was_b = 1'b0;
  reg was_r = 1'b0;
  reg [11:0] old_awaddr;
  reg [35:0] old_w;
  reg [11:0] old_araddr;
  reg [1:0] old_b;
  reg [33:0] old_r;
  always @(posedge m_clk) begin
    if (m_aresetn) begin
      if (was_aw && !(m_awvalid && (m_awaddr === old_awaddr))) $fatal(1, "awvalid does not stay");
      if (was_w && !(m_wvalid && ({m_wstrb, m_wdata} === old_w))) $fatal(1, "wvalid does not stay");
      if (was_ar && !(m_arvalid && (m_araddr === old_araddr))) $fatal(1, "arvalid does not stay");
      if ((^{m_awvalid, m_wvalid, m_arvalid, m_bready, m_rready}) === 1'bx) $fatal(1, "unknown pins");
    end
    was_aw = m_aresetn & m_awvalid & ~m_awready;
    was_w = m_aresetn & m_wvalid & ~m_wready;
    was_ar = m_aresetn & m_arvalid & ~m_arready;
    old_awaddr = m_awaddr;
    old_w = {m_wstrb, m_wdata};
    old_araddr = m_araddr;
  end
  reg s_ran = 1'b0;
  always @(posedge s_clk) begin
    if (s_aresetn) begin
      if (was_b && !(s_bvalid && (s_bresp === old_b))) $fatal(1, "bvalid does not stay");
      if (was_r && !(s_rvalid && ({s_rresp, s_rdata} === old_r))) $fatal(1, "rvalid does not stay");
      if (s_ran && ((^{s_awready, s_wready, s_arready, s_bvalid, s_rvalid}) === 1'bx))
        $fatal(1, "unknown pins");
    end
    s_ran = s_aresetn;
    was_b = s_aresetn & s_bvalid & ~s_bready;
    was_r = s_aresetn & s_rvalid & ~s_rready;
    old_b = s_bresp;
    old_r = {s_rresp, s_rdata};
  end

endmodule

`default_nettype wire
