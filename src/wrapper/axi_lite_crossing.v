`default_nettype none

module axi_lite_crossing #(
    parameter ADDRESS = 12,  // bits of an address
    parameter DATA = 32      // bits of data, a multiple of 8
) (
    // The side of the manager, which asks.
    input  wire               s_axi_aclk,     // its clock
    input  wire               s_axi_aresetn,  // its reset: active low, synchronous to s_axi_aclk
    input  wire               s_axi_awvalid,  // there is a write address
    output reg                s_axi_awready,  // it is taken
    input  wire [ADDRESS-1:0] s_axi_awaddr,   // write address in bytes
    input  wire               s_axi_wvalid,   // there is data to write
    output reg                s_axi_wready,   // it is taken
    input  wire    [DATA-1:0] s_axi_wdata,    // data to write
    input  wire  [DATA/8-1:0] s_axi_wstrb,    // which of its bytes to write
    output reg                s_axi_bvalid,   // a write is answered
    input  wire               s_axi_bready,   // the answer is taken
    output reg          [1:0] s_axi_bresp,    // the answer; 2 if the other side was reset meanwhile
    input  wire               s_axi_arvalid,  // there is a read address
    output reg                s_axi_arready,  // it is taken
    input  wire [ADDRESS-1:0] s_axi_araddr,   // read address in bytes
    output reg                s_axi_rvalid,   // a read is answered
    input  wire               s_axi_rready,   // the answer is taken
    output reg     [DATA-1:0] s_axi_rdata,    // data that was read
    output reg          [1:0] s_axi_rresp,    // the answer; 2 if the other side was reset meanwhile
    // The side of the subordinate, which is asked.
    input  wire               m_axi_aclk,     // its clock
    input  wire               m_axi_aresetn,  // its reset: active low, synchronous to m_axi_aclk
    output reg                m_axi_awvalid,  // there is a write address
    input  wire               m_axi_awready,  // it is taken
    output reg  [ADDRESS-1:0] m_axi_awaddr,   // write address in bytes
    output reg                m_axi_wvalid,   // there is data to write
    input  wire               m_axi_wready,   // it is taken
    output reg     [DATA-1:0] m_axi_wdata,    // data to write
    output reg   [DATA/8-1:0] m_axi_wstrb,    // which of its bytes to write
    input  wire               m_axi_bvalid,   // a write is answered
    output reg                m_axi_bready,   // the answer is taken
    input  wire         [1:0] m_axi_bresp,    // the answer
    output reg                m_axi_arvalid,  // there is a read address
    input  wire               m_axi_arready,  // it is taken
    output reg  [ADDRESS-1:0] m_axi_araddr,   // read address in bytes
    input  wire               m_axi_rvalid,   // a read is answered
    output reg                m_axi_rready,   // the answer is taken
    input  wire    [DATA-1:0] m_axi_rdata,    // data that was read
    input  wire         [1:0] m_axi_rresp     // the answer
);

  localparam [1:0] SLVERR = 2'd2;

  // Registers of the manager's side that the other side reads.
  reg s_restart;   // both sides are to begin anew: asks for m_restarts
  reg s_write;     // a write is asked for whenever this changes; its address and data stand still
  reg s_read;      // the same of a read and its address
  reg [ADDRESS-1:0] s_awaddr;  // write address, from awready until the write is answered
  reg [DATA-1:0] s_wdata;      // data to write, from wready until then
  reg [DATA/8-1:0] s_wstrb;    // its bytes to write
  reg [ADDRESS-1:0] s_araddr;  // read address, from arready until the read is answered

  // Registers of the manager's side that it alone reads.
  reg s_restarted;  // the other side has begun anew, s_write and s_read are 0
  reg s_open;      // both sides have begun anew: requests may be sent
  reg s_aw_held;   // s_awaddr holds an address
  reg s_w_held;    // s_wdata and s_wstrb hold data
  reg s_ar_held;   // s_araddr holds an address
  reg s_writing;   // the write was sent, and has no answer yet
  reg s_reading;   // the read was sent, and has no answer yet

  // Registers of the subordinate's side that the other side reads.
  reg m_was_reset;  // this side was reset: asks for s_restart
  reg m_restarts;   // nothing is under way here, and nothing begins until s_restart is 0
  reg m_wrote;      // equal to s_write when the write is answered; m_bresp stands still then
  reg m_has_read;   // equal to s_read when the read is answered; m_rdata and m_rresp stand still then
  reg [1:0] m_bresp;     // the answer to the last write
  reg [DATA-1:0] m_rdata;  // data of the last read
  reg [1:0] m_rresp;     // the answer to the last read

  // Bits of the other side, as this side sees them.
  wire s_was_reset;  // m_was_reset, seen by the manager's side
  wire s_restarts;   // m_restarts
  wire s_wrote;      // m_wrote
  wire s_has_read;   // m_has_read
  wire m_restart;    // s_restart, seen by the subordinate's side
  wire m_write;      // s_write
  wire m_read;       // s_read
  reg m_restart_before;  // m_restart a cycle ago: s_write and s_read changed earlier than s_restart

  synchroniser u_s_was_reset (
      .clk          (s_axi_aclk),
      .asynchronous (m_was_reset),
      .synchronous  (s_was_reset)
  );

  synchroniser u_s_restarts (
      .clk          (s_axi_aclk),
      .asynchronous (m_restarts),
      .synchronous  (s_restarts)
  );

  synchroniser u_s_wrote (
      .clk          (s_axi_aclk),
      .asynchronous (m_wrote),
      .synchronous  (s_wrote)
  );

  synchroniser u_s_has_read (
      .clk          (s_axi_aclk),
      .asynchronous (m_has_read),
      .synchronous  (s_has_read)
  );

  synchroniser u_m_restart (
      .clk          (m_axi_aclk),
      .asynchronous (s_restart),
      .synchronous  (m_restart)
  );

  synchroniser u_m_write (
      .clk          (m_axi_aclk),
      .asynchronous (s_write),
      .synchronous  (m_write)
  );

  synchroniser u_m_read (
      .clk          (m_axi_aclk),
      .asynchronous (s_read),
      .synchronous  (m_read)
  );

  always @(posedge m_axi_aclk) begin
    m_restart_before <= m_restart;
  end

  // The manager's side begins anew after its reset, and after one of the other side. It asks for
  // that; the other side ends what is under way, says so, and stands still. Then s_write and s_read
  // become 0, and both go on. What was in them before does not matter.
  wire s_closes = s_open & s_was_reset;
  wire s_clears = s_restart & s_restarts;

  always @(posedge s_axi_aclk) begin
    if (!s_axi_aresetn) begin
      // The other side sees in a reset that is long enough that nothing is asked for any more.
      s_open <= 1'b0;
      s_restart <= 1'b0;
      s_restarted <= 1'b0;
    end else if (s_open) begin
      s_open <= ~s_closes;
    end else if (s_restart) begin
      s_restart <= ~s_clears;
      s_restarted <= s_clears;
    end else if (s_restarted) begin
      s_restarted <= s_restarts;
      s_open <= ~s_restarts;
    end else begin
      s_restart <= 1'b1;
    end
  end

  // Writes, manager's side: address and data are taken in any order, and held until the answer.
  wire s_takes_aw = s_axi_awvalid & s_axi_awready;
  wire s_takes_w = s_axi_wvalid & s_axi_wready;
  wire s_sends_write = s_open & ~s_was_reset & s_aw_held & s_w_held & ~s_writing & ~s_axi_bvalid;
  wire s_answers_write = s_writing & (s_closes | (s_open & (s_wrote == s_write)));

  always @(posedge s_axi_aclk) begin
    if (!s_axi_aresetn) begin
      s_axi_awready <= 1'b0;
      s_axi_wready <= 1'b0;
      s_axi_bvalid <= 1'b0;
      s_aw_held <= 1'b0;
      s_w_held <= 1'b0;
      s_writing <= 1'b0;
    end else begin
      s_axi_awready <= s_answers_write | ~(s_aw_held | s_takes_aw);
      s_axi_wready <= s_answers_write | ~(s_w_held | s_takes_w);
      s_aw_held <= ~s_answers_write & (s_aw_held | s_takes_aw);
      s_w_held <= ~s_answers_write & (s_w_held | s_takes_w);
      s_writing <= ~s_answers_write & (s_writing | s_sends_write);
      s_axi_bvalid <= s_answers_write | (s_axi_bvalid & ~s_axi_bready);
    end
    if (s_takes_aw) begin
      s_awaddr <= s_axi_awaddr;
    end
    if (s_takes_w) begin
      s_wdata <= s_axi_wdata;
      s_wstrb <= s_axi_wstrb;
    end
    if (s_answers_write) begin
      // What the other side was reset in the middle of has no answer.
      s_axi_bresp <= s_closes ? SLVERR : m_bresp;
    end
    if (s_clears) begin
      s_write <= 1'b0;
    end else if (s_sends_write & s_axi_aresetn) begin
      s_write <= ~s_write;
    end
  end

  // Reads, manager's side.
  wire s_takes_ar = s_axi_arvalid & s_axi_arready;
  wire s_sends_read = s_open & ~s_was_reset & s_ar_held & ~s_reading & ~s_axi_rvalid;
  wire s_answers_read = s_reading & (s_closes | (s_open & (s_has_read == s_read)));

  always @(posedge s_axi_aclk) begin
    if (!s_axi_aresetn) begin
      s_axi_arready <= 1'b0;
      s_axi_rvalid <= 1'b0;
      s_ar_held <= 1'b0;
      s_reading <= 1'b0;
    end else begin
      s_axi_arready <= s_answers_read | ~(s_ar_held | s_takes_ar);
      s_ar_held <= ~s_answers_read & (s_ar_held | s_takes_ar);
      s_reading <= ~s_answers_read & (s_reading | s_sends_read);
      s_axi_rvalid <= s_answers_read | (s_axi_rvalid & ~s_axi_rready);
    end
    if (s_takes_ar) begin
      s_araddr <= s_axi_araddr;
    end
    if (s_answers_read) begin
      s_axi_rdata <= s_closes ? {DATA{1'b0}} : m_rdata;
      s_axi_rresp <= s_closes ? SLVERR : m_rresp;
    end
    if (s_clears) begin
      s_read <= 1'b0;
    end else if (s_sends_read & s_axi_aresetn) begin
      s_read <= ~s_read;
    end
  end

  // The subordinate's side begins anew when it is asked to and nothing is under way: what was begun
  // is ended first, so that half a write is never left at the subordinate. A write is under way as
  // long as m_axi_bready is 1, a read as long as m_axi_rready is. After its own reset, which resets
  // the subordinate, too, it begins nothing until it was asked to begin anew.
  wire m_begins = m_restart & ~m_restarts & ~m_axi_bready & ~m_axi_rready;
  wire m_may_start = ~m_was_reset & ~m_restart & ~m_restarts;

  always @(posedge m_axi_aclk) begin
    if (!m_axi_aresetn) begin
      m_was_reset <= 1'b1;
      m_restarts <= 1'b0;
    end else if (m_begins) begin
      m_was_reset <= 1'b0;
      m_restarts <= 1'b1;
    end else if (~m_restart & ~m_restart_before) begin
      // s_write and s_read became 0 with s_restart, and may be seen a cycle later.
      m_restarts <= 1'b0;
    end
  end

  // Writes, subordinate's side.
  wire m_starts_write = m_may_start & ~m_axi_bready & (m_write != m_wrote);
  wire m_ends_write = m_axi_bvalid & m_axi_bready;

  always @(posedge m_axi_aclk) begin
    if (!m_axi_aresetn) begin
      m_axi_awvalid <= 1'b0;
      m_axi_wvalid <= 1'b0;
      m_axi_bready <= 1'b0;
    end else begin
      m_axi_awvalid <= m_starts_write | (m_axi_awvalid & ~m_axi_awready);
      m_axi_wvalid <= m_starts_write | (m_axi_wvalid & ~m_axi_wready);
      m_axi_bready <= m_starts_write | (m_axi_bready & ~m_ends_write);
    end
    if (m_starts_write) begin
      m_axi_awaddr <= s_awaddr;
      m_axi_wdata <= s_wdata;
      m_axi_wstrb <= s_wstrb;
    end
    if (m_restarts) begin
      // Nothing is asked for when both sides go on.
      m_wrote <= m_write;
    end else if (m_ends_write & m_axi_aresetn) begin
      m_wrote <= ~m_wrote;
      m_bresp <= m_axi_bresp;
    end
  end

  // Reads, subordinate's side.
  wire m_starts_read = m_may_start & ~m_axi_rready & (m_read != m_has_read);
  wire m_ends_read = m_axi_rvalid & m_axi_rready;

  always @(posedge m_axi_aclk) begin
    if (!m_axi_aresetn) begin
      m_axi_arvalid <= 1'b0;
      m_axi_rready <= 1'b0;
    end else begin
      m_axi_arvalid <= m_starts_read | (m_axi_arvalid & ~m_axi_arready);
      m_axi_rready <= m_starts_read | (m_axi_rready & ~m_ends_read);
    end
    if (m_starts_read) begin
      m_axi_araddr <= s_araddr;
    end
    if (m_restarts) begin
      // As for writes.
      m_has_read <= m_read;
    end else if (m_ends_read & m_axi_aresetn) begin
      m_has_read <= ~m_has_read;
      m_rdata <= m_axi_rdata;
      m_rresp <= m_axi_rresp;
    end
  end

endmodule

`default_nettype wire
