use super::*;

fn packet(packets: &mut Packets, wire: u32) -> u32 {
    packets.add(Packet::new(wire, wire, 0, 0, 0, 2))
}

fn arrive(switch: &mut Switch, packets: &mut Packets, wire: u32, input: u32, output: u32) -> u32 {
    let packet = packet(packets, wire);
    switch.begin_arrival(input, wire).unwrap();
    switch.end_arrival(packets, packet, input, output);
    packet
}

#[test]
fn table_6_of_the_perfbound_paper() {
    let parameters = Parameters::default();
    assert_eq!(parameters.link_time(64), 1280);
    // 192000 ps / 2.44 = 78688.52 ps.
    assert_eq!(parameters.crossbar_time(9600), 78_689);
    assert!(parameters.input_bound() <= 49152);
    parameters.validate().unwrap();
}

#[test]
fn parameters_that_would_lose_packets_are_refused_with_a_remedy() {
    let long = Parameters {
        cable_ps: 50_000,
        ..Default::default()
    };
    let error = long.validate().unwrap_err();
    assert_eq!(error.key, "queue_bytes");
    for remedy in [
        "queue_bytes = 52563",
        "pfc_stop_bytes = 34489",
        "cable_ns = 15.89",
    ] {
        assert!(error.problem.contains(remedy), "{error}");
    }
    for remedied in [
        Parameters {
            queue: 52563,
            ..long
        },
        Parameters {
            pfc_stop: 34489,
            ..long
        },
        Parameters {
            cable_ps: 15_890,
            ..long
        },
    ] {
        remedied.validate().unwrap();
    }
    for (wrong, key) in [
        (
            Parameters {
                byte_ps: 0,
                ..Default::default()
            },
            "link_gbps",
        ),
        (
            Parameters {
                mtu: 0,
                ..Default::default()
            },
            "mtu_bytes",
        ),
        (
            Parameters {
                header: 9600,
                ..Default::default()
            },
            "header_bytes",
        ),
        (
            Parameters {
                min_packet: 9601,
                ..Default::default()
            },
            "min_packet_bytes",
        ),
        (
            Parameters {
                control: 0,
                ..Default::default()
            },
            "control_bytes",
        ),
        (
            Parameters {
                speedup_milli: 999,
                ..Default::default()
            },
            "speedup",
        ),
        (
            Parameters {
                cable_ps: u64::MAX,
                ..Default::default()
            },
            "cable_ns",
        ),
        (
            Parameters {
                queue: 9599,
                ..Default::default()
            },
            "queue_bytes",
        ),
        (
            Parameters {
                queue: u32::MAX,
                ..Default::default()
            },
            "queue_bytes",
        ),
        (
            Parameters {
                pfc_go: 37900,
                ..Default::default()
            },
            "pfc_go_bytes",
        ),
        (
            Parameters {
                pfc_stop: 0,
                ..Default::default()
            },
            "pfc_go_bytes",
        ),
    ] {
        assert_eq!(wrong.validate().unwrap_err().key, key);
    }
}

#[test]
fn the_oldest_packet_crosses_first() {
    let mut packets = Packets::default();
    let mut switch = Switch::new(4, &Parameters::default());
    let older = arrive(&mut switch, &mut packets, 100, 2, 3);
    let younger = arrive(&mut switch, &mut packets, 100, 0, 3);
    let elsewhere = arrive(&mut switch, &mut packets, 100, 0, 1);
    let first = switch.arbitrate(&packets).unwrap();
    assert_eq!((first.packet, first.input, first.output), (older, 2, 3));
    // Output 3 is taken; input 0 may serve output 1 meanwhile.
    assert_eq!(switch.arbitrate(&packets).unwrap().packet, elsewhere);
    assert_eq!(switch.arbitrate(&packets), None);
    switch.crossed(&mut packets, first);
    // Input 0 is still busy.
    assert_eq!(switch.arbitrate(&packets), None);
    switch.crossed(
        &mut packets,
        Grant {
            input: 0,
            output: 1,
            packet: elsewhere,
        },
    );
    assert_eq!(switch.arbitrate(&packets).unwrap().packet, younger);
}

#[test]
fn a_full_output_buffer_is_not_overtaken() {
    let mut packets = Packets::default();
    let parameters = Parameters {
        queue: 49152,
        ..Default::default()
    };
    let mut switch = Switch::new(3, &parameters);
    for _ in 0..5 {
        arrive(&mut switch, &mut packets, 9600, 0, 2);
        let grant = switch.arbitrate(&packets).unwrap();
        switch.crossed(&mut packets, grant);
    }
    // 48000 of 49152 bytes: a large packet waits, and a small one behind it as well.
    let large = arrive(&mut switch, &mut packets, 9600, 0, 2);
    arrive(&mut switch, &mut packets, 64, 1, 2);
    assert_eq!(switch.arbitrate(&packets), None);
    let left = switch.next_departure(&packets, 2).unwrap();
    switch.departed(2, packets.remove(left).wire);
    assert_eq!(switch.arbitrate(&packets).unwrap().packet, large);
}

#[test]
fn the_output_port_serves_its_inputs_in_turn() {
    let mut packets = Packets::default();
    let mut switch = Switch::new(3, &Parameters::default());
    let mut from = Vec::new();
    for input in [0, 0, 0, 2, 2, 1] {
        let packet = arrive(&mut switch, &mut packets, 100, input, 1);
        from.push((packet, input));
        let grant = switch.arbitrate(&packets).unwrap();
        switch.crossed(&mut packets, grant);
    }
    let order: Vec<u32> = std::iter::from_fn(|| switch.next_departure(&packets, 1))
        .map(|packet| from.iter().find(|entry| entry.0 == packet).unwrap().1)
        .collect();
    assert_eq!(order, [0, 1, 2, 0, 2, 0]);
}

#[test]
fn pfc_stops_at_its_limit_and_goes_at_the_other() {
    let mut packets = Packets::default();
    let mut switch = Switch::new(2, &Parameters::default());
    let mut signals = Vec::new();
    // 3 * 9600 + 9100 = 37900: the limit itself stops.
    for wire in [9600, 9600, 9600, 9100] {
        let packet = packet(&mut packets, wire);
        signals.push(switch.begin_arrival(0, wire).unwrap());
        switch.end_arrival(&mut packets, packet, 0, 1);
    }
    assert_eq!(signals, [None, None, None, Some(Pfc::Stop)]);
    let mut signals = Vec::new();
    while let Some(grant) = switch.arbitrate(&packets) {
        signals.push(switch.crossed(&mut packets, grant));
    }
    assert_eq!(signals, [None, None, None, Some(Pfc::Go)]);
    let over = switch
        .begin_arrival(0, 9600)
        .and_then(|_| switch.begin_arrival(0, 40_000))
        .unwrap_err();
    assert_eq!((over.used, over.capacity), (49_600, 49_152));
}
