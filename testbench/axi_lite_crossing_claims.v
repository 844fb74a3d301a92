// axi_lite_crossing_claims
//
// What is proved of `axi_lite_crossing` (docs/evidence/proofs.md). The prover puts an instance of
// this module into the emitted one, connected to all of its pins and registers, and turns each of
// its flip-flops into one that steps only when its clock pin is 1: a step of the proof has an edge
// of either clock, of both, or of none, in any order. The first flip-flop of a synchroniser may
// hold its old value for one edge more after its input has changed.
//
// Each wire called broken_ is 1 if a claim does not hold, while the surroundings keep to what is
// assumed of them; each called reached_ has to be possible.

`default_nettype none

module axi_lite_crossing_claims #(
    parameter ADDRESS = 2,  // bits of an address
    parameter DATA = 8      // bits of data
) (
    input wire               s_axi_aclk,
    input wire               s_axi_aresetn,
    input wire               s_axi_awvalid,
    input wire               s_axi_awready,
    input wire [ADDRESS-1:0] s_axi_awaddr,
    input wire               s_axi_wvalid,
    input wire               s_axi_wready,
    input wire    [DATA-1:0] s_axi_wdata,
    input wire  [DATA/8-1:0] s_axi_wstrb,
    input wire               s_axi_bvalid,
    input wire               s_axi_bready,
    input wire         [1:0] s_axi_bresp,
    input wire               s_axi_arvalid,
    input wire               s_axi_arready,
    input wire [ADDRESS-1:0] s_axi_araddr,
    input wire               s_axi_rvalid,
    input wire               s_axi_rready,
    input wire    [DATA-1:0] s_axi_rdata,
    input wire         [1:0] s_axi_rresp,
    input wire               m_axi_aclk,
    input wire               m_axi_aresetn,
    input wire               m_axi_awvalid,
    input wire               m_axi_awready,
    input wire [ADDRESS-1:0] m_axi_awaddr,
    input wire               m_axi_wvalid,
    input wire               m_axi_wready,
    input wire    [DATA-1:0] m_axi_wdata,
    input wire  [DATA/8-1:0] m_axi_wstrb,
    input wire               m_axi_bvalid,
    input wire               m_axi_bready,
    input wire         [1:0] m_axi_bresp,
    input wire               m_axi_arvalid,
    input wire               m_axi_arready,
    input wire [ADDRESS-1:0] m_axi_araddr,
    input wire               m_axi_rvalid,
    input wire               m_axi_rready,
    input wire    [DATA-1:0] m_axi_rdata,
    input wire         [1:0] m_axi_rresp,
    // Registers that the other side reads without a synchroniser.
    input wire [ADDRESS-1:0] s_awaddr,
    input wire    [DATA-1:0] s_wdata,
    input wire  [DATA/8-1:0] s_wstrb,
    input wire [ADDRESS-1:0] s_araddr,
    input wire         [1:0] m_bresp,
    input wire    [DATA-1:0] m_rdata,
    input wire         [1:0] m_rresp,
    // When they are read, and when what is in them is sent.
    input wire               s_sends_write,
    input wire               s_sends_read,
    input wire               s_answers_write,
    input wire               s_answers_read,
    input wire               s_closes,
    input wire               s_clears,
    input wire               m_starts_write,
    input wire               m_starts_read
);

  // An edge of each clock, out of reset and in reset.
  wire s_runs = s_axi_aclk & s_axi_aresetn;
  wire m_runs = m_axi_aclk & m_axi_aresetn;

  // A side is reset at power-up. A reset ends no sooner than the other clock has had FIRST edges,
  // and the own one LAST edges behind them: so short is no
  // reset of 16 cycles of the slower one.
  localparam [2:0] S_FIRST = 3'd6;
  localparam [2:0] S_LAST = 3'd4;
  localparam [2:0] M_FIRST = 3'd7;
  localparam [2:0] M_LAST = 3'd4;
  reg [2:0] s_reset_first = 3'd0;
  reg [2:0] s_reset_last = 3'd0;
  reg [2:0] m_reset_first = 3'd0;
  reg [2:0] m_reset_last = 3'd0;
  reg s_in_reset = 1'b1;
  reg m_in_reset = 1'b1;
  wire s_may_end = s_reset_last == S_LAST;
  wire m_may_end = m_reset_last == M_LAST;
  always @($global_clock) begin
    if (s_axi_aclk) begin
      s_in_reset <= ~s_axi_aresetn;
    end
    if (s_runs | (s_axi_aclk & ~s_in_reset)) begin
      s_reset_first <= 3'd0;
      s_reset_last <= 3'd0;
    end else begin
      if (m_axi_aclk & (s_reset_first != S_FIRST)) s_reset_first <= s_reset_first + 3'd1;
      if (s_axi_aclk & (s_reset_first == S_FIRST) & ~s_may_end) s_reset_last <= s_reset_last + 3'd1;
    end
    if (m_axi_aclk) begin
      m_in_reset <= ~m_axi_aresetn;
    end
    if (m_runs | (m_axi_aclk & ~m_in_reset)) begin
      m_reset_first <= 3'd0;
      m_reset_last <= 3'd0;
    end else begin
      if (s_axi_aclk & (m_reset_first != M_FIRST)) m_reset_first <= m_reset_first + 3'd1;
      if (m_axi_aclk & (m_reset_first == M_FIRST) & ~m_may_end) m_reset_last <= m_reset_last + 3'd1;
    end
  end
  wire long_resets = ~(s_runs & s_in_reset & ~s_may_end) & ~(m_runs & m_in_reset & ~m_may_end);

  // The subordinate answers what it was asked for, once. Of what the manager does nothing is assumed.
  reg m_has_aw = 1'b0;  // the subordinate has an address, and data, that it has not answered
  reg m_has_w = 1'b0;
  reg m_has_ar = 1'b0;
  wire m_b = m_runs & m_axi_bvalid & m_axi_bready;
  wire m_r = m_runs & m_axi_rvalid & m_axi_rready;
  wire answers_once = ~(m_axi_aclk & m_axi_bvalid & ~(m_has_aw & m_has_w))
      & ~(m_axi_aclk & m_axi_rvalid & ~m_has_ar);
  always @($global_clock) begin
    if (m_axi_aclk) begin
      m_has_aw <= m_axi_aresetn & ((m_axi_awvalid & m_axi_awready) | (m_has_aw & ~m_b));
      m_has_w <= m_axi_aresetn & ((m_axi_wvalid & m_axi_wready) | (m_has_w & ~m_b));
      m_has_ar <= m_axi_aresetn & ((m_axi_arvalid & m_axi_arready) | (m_has_ar & ~m_r));
    end
  end

  // What is assumed held until now.
  reg held = 1'b1;
  wire holds = held & long_resets & answers_once;
  always @($global_clock) begin
    held <= holds;
  end

  // A side was reset at its last edge, or never yet: what its outputs were then does not count.
  reg s_ran = 1'b0;
  reg m_ran = 1'b0;
  always @($global_clock) begin
    if (s_axi_aclk) s_ran <= s_axi_aresetn;
    if (m_axi_aclk) m_ran <= m_axi_aresetn;
  end

  // Valid stays, with what belongs to it, until it is taken.
  reg was_b;
  reg [1:0] was_bresp;
  reg was_r;
  reg [DATA+1:0] was_rdata;
  reg was_aw;
  reg [ADDRESS-1:0] was_awaddr;
  reg was_w;
  reg [DATA+DATA/8-1:0] was_wdata;
  reg was_ar;
  reg [ADDRESS-1:0] was_araddr;
  always @($global_clock) begin
    if (s_axi_aclk) begin
      was_b <= s_axi_bvalid & ~s_axi_bready;
      was_bresp <= s_axi_bresp;
      was_r <= s_axi_rvalid & ~s_axi_rready;
      was_rdata <= {s_axi_rresp, s_axi_rdata};
    end
    if (m_axi_aclk) begin
      was_aw <= m_axi_awvalid & ~m_axi_awready;
      was_awaddr <= m_axi_awaddr;
      was_w <= m_axi_wvalid & ~m_axi_wready;
      was_wdata <= {m_axi_wstrb, m_axi_wdata};
      was_ar <= m_axi_arvalid & ~m_axi_arready;
      was_araddr <= m_axi_araddr;
    end
  end
  wire broken_b_stays = holds & s_ran & was_b & ~(s_axi_bvalid & (s_axi_bresp == was_bresp));
  wire broken_r_stays = holds & s_ran & was_r
      & ~(s_axi_rvalid & ({s_axi_rresp, s_axi_rdata} == was_rdata));
  wire broken_aw_stays = holds & m_ran & was_aw & ~(m_axi_awvalid & (m_axi_awaddr == was_awaddr));
  wire broken_w_stays = holds & m_ran & was_w
      & ~(m_axi_wvalid & ({m_axi_wstrb, m_axi_wdata} == was_wdata));
  wire broken_ar_stays = holds & m_ran & was_ar & ~(m_axi_arvalid & (m_axi_araddr == was_araddr));

  // As many answers as requests, and none before its request: what the manager has asked for and has
  // no answer to. A second request may be taken while the first answer waits.
  reg [1:0] s_aws = 2'd0;
  reg [1:0] s_ws = 2'd0;
  reg [1:0] s_ars = 2'd0;
  wire s_aw = s_axi_awvalid & s_axi_awready;
  wire s_w = s_axi_wvalid & s_axi_wready;
  wire s_ar = s_axi_arvalid & s_axi_arready;
  wire s_b = s_axi_bvalid & s_axi_bready;
  wire s_r = s_axi_rvalid & s_axi_rready;
  always @($global_clock) begin
    if (s_axi_aclk) begin
      s_aws <= s_axi_aresetn ? s_aws + {1'b0, s_aw} - {1'b0, s_b} : 2'd0;
      s_ws <= s_axi_aresetn ? s_ws + {1'b0, s_w} - {1'b0, s_b} : 2'd0;
      s_ars <= s_axi_aresetn ? s_ars + {1'b0, s_ar} - {1'b0, s_r} : 2'd0;
    end
  end
  wire broken_b_asked = holds & s_ran & s_axi_bvalid & ((s_aws == 2'd0) | (s_ws == 2'd0));
  wire broken_r_asked = holds & s_ran & s_axi_rvalid & (s_ars == 2'd0);
  wire broken_requests_wait = holds & s_ran & ((s_aws == 2'd3) | (s_ws == 2'd3) | (s_ars == 2'd3));

  // The subordinate is asked for what the manager asked for, once, and the manager is answered what
  // the subordinate answered. A write: what was taken at the pins, what of it was sent, whether the
  // other side may still begin it, what came back.
  reg [ADDRESS-1:0] taken_awaddr;
  reg [DATA+DATA/8-1:0] taken_wdata;
  reg [ADDRESS-1:0] sent_awaddr;
  reg [DATA+DATA/8-1:0] sent_wdata;
  reg write_sent = 1'b0;
  reg write_valid = 1'b0;  // it is still to be answered by the other side
  reg write_back = 1'b0;
  reg [1:0] write_resp;
  reg [1:0] given_bresp;
  // A read.
  reg [ADDRESS-1:0] taken_araddr;
  reg [ADDRESS-1:0] sent_araddr;
  reg read_sent = 1'b0;
  reg read_valid = 1'b0;
  reg read_back = 1'b0;
  reg [DATA+1:0] read_resp;
  reg [DATA+1:0] given_rdata;
  wire sends_write = s_runs & s_sends_write;
  wire sends_read = s_runs & s_sends_read;
  wire starts_write = m_runs & m_starts_write;
  wire starts_read = m_runs & m_starts_read;
  wire answers_write = s_runs & s_answers_write;
  wire answers_read = s_runs & s_answers_read;
  // The same of the registers that are read across, at the last edge of the side that reads them.
  reg [ADDRESS-1:0] seen_awaddr;
  reg [DATA+DATA/8-1:0] seen_wdata;
  reg [ADDRESS-1:0] seen_araddr;
  reg [1:0] seen_bresp;
  reg [DATA+1:0] seen_rdata;
  always @($global_clock) begin
    if (s_axi_aclk) begin
      seen_bresp <= m_bresp;
      seen_rdata <= {m_rresp, m_rdata};
      if (s_aw) taken_awaddr <= s_axi_awaddr;
      if (s_w) taken_wdata <= {s_axi_wstrb, s_axi_wdata};
      if (s_ar) taken_araddr <= s_axi_araddr;
      if (s_runs & s_answers_write) given_bresp <= s_closes ? 2'd2 : write_resp;
      if (s_runs & s_answers_read) given_rdata <= s_closes ? {2'd2, {DATA{1'b0}}} : read_resp;
      if (sends_write) begin
        sent_awaddr <= taken_awaddr;
        sent_wdata <= taken_wdata;
      end
      if (sends_read) sent_araddr <= taken_araddr;
    end
    if (m_axi_aclk) begin
      seen_awaddr <= s_awaddr;
      seen_wdata <= {s_wstrb, s_wdata};
      seen_araddr <= s_araddr;
      if (m_b) write_resp <= m_axi_bresp;
      if (m_r) read_resp <= {m_axi_rresp, m_axi_rdata};
    end
    write_sent <= sends_write | (write_sent & ~starts_write & ~(s_axi_aclk & s_clears));
    read_sent <= sends_read | (read_sent & ~starts_read & ~(s_axi_aclk & s_clears));
    write_back <= ~sends_write & (m_b | (write_back & ~answers_write));
    read_back <= ~sends_read & (m_r | (read_back & ~answers_read));
  end
  wire broken_write_once = holds & starts_write & ~write_sent;
  wire broken_read_once = holds & starts_read & ~read_sent;
  wire broken_write_unchanged = holds & starts_write
      & ~((s_awaddr == sent_awaddr) & ({s_wstrb, s_wdata} == sent_wdata));
  wire broken_read_unchanged = holds & starts_read & (s_araddr != sent_araddr);
  // What is read across has stood still since the edge before.
  wire broken_write_still = holds & starts_write
      & ~((s_awaddr == seen_awaddr) & ({s_wstrb, s_wdata} == seen_wdata));
  wire broken_read_still = holds & starts_read & (s_araddr != seen_araddr);
  wire broken_b_still = holds & answers_write & ~s_closes & (m_bresp != seen_bresp);
  wire broken_r_still = holds & answers_read & ~s_closes & ({m_rresp, m_rdata} != seen_rdata);
  // The answer is that of the subordinate, to this request.
  wire broken_b_back = holds & answers_write & ~s_closes & ~write_back;
  wire broken_r_back = holds & answers_read & ~s_closes & ~read_back;
  wire broken_b_unchanged = holds & s_ran & s_axi_bvalid & (s_axi_bresp != given_bresp);
  wire broken_r_unchanged = holds & s_ran & s_axi_rvalid & ({s_axi_rresp, s_axi_rdata} != given_rdata);
  // The subordinate's pins show what was begun.
  reg write_starts = 1'b0;
  reg read_starts = 1'b0;
  always @($global_clock) begin
    write_starts <= starts_write;
    read_starts <= starts_read;
  end
  wire broken_aw_sent = holds & m_ran & m_axi_awvalid & (m_axi_awaddr != sent_awaddr) & write_starts;
  wire broken_w_sent = holds & m_ran & m_axi_wvalid & ({m_axi_wstrb, m_axi_wdata} != sent_wdata)
      & write_starts;
  wire broken_ar_sent = holds & m_ran & m_axi_arvalid & (m_axi_araddr != sent_araddr) & read_starts;
  // A valid of the subordinate's side rises only with a transfer that begins.
  reg m_was_aw = 1'b0;
  reg m_was_w = 1'b0;
  reg m_was_ar = 1'b0;
  always @($global_clock) begin
    m_was_aw <= m_axi_awvalid;
    m_was_w <= m_axi_wvalid;
    m_was_ar <= m_axi_arvalid;
  end
  wire broken_no_phantom = holds & m_ran
      & ((m_axi_awvalid & ~m_was_aw & ~write_starts) | (m_axi_wvalid & ~m_was_w & ~write_starts)
          | (m_axi_arvalid & ~m_was_ar & ~read_starts));
  // Half of a write is never left at the subordinate: a new one begins with none there.
  wire broken_whole_writes = holds & starts_write & (m_has_aw | m_has_w | m_axi_awvalid | m_axi_wvalid);
  wire broken_whole_reads = holds & starts_read & (m_has_ar | m_axi_arvalid);

  // What has to be possible.
  wire reached_write = holds & answers_write & ~s_closes & (write_resp == 2'd3);
  wire reached_read = holds & answers_read & ~s_closes & (read_resp == {2'd1, {DATA{1'b1}}});
  wire reached_refused = holds & answers_write & s_closes;

endmodule

`default_nettype wire
