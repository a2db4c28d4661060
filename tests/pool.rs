//! A voxelizer with threads of its own uses no others: rayon's global pool, of which a forked child
//! has none of the threads, would wait there for ever.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::mpsc;
use std::time::Duration;

use rayon::ThreadPoolBuilder;
use trivox::{Fill, Mode, Solid, Tile, Voxelizer};

#[test]
fn no_step_leaves_the_threads_that_were_asked_for() {
    // A global pool whose only thread does nothing else any more.
    ThreadPoolBuilder::new().num_threads(1).build_global().unwrap();
    rayon::spawn(|| {
        loop {
            std::thread::park();
        }
    });
    let (done, steps) = mpsc::channel();
    std::thread::spawn(move || {
        let voxelizer = Voxelizer::new().resolution(64).threads(2);
        let mesh = voxelizer.load_file("assets/lighthouse.obj").unwrap().mesh;
        let solid =
            |fill| voxelizer.clone().mode(Mode::Solid(Solid { fill, include_surface: true }));
        let say = |step: &str| done.send(step.to_owned()).unwrap();
        voxelizer.run(&mesh).unwrap();
        say("surface");
        voxelizer.clone().mode(Mode::Thin).run(&mesh).unwrap();
        say("thin");
        for fill in [Fill::Auto, Fill::Parity, Fill::Winding, Fill::Flood, Fill::Vote] {
            _ = solid(fill).run(&mesh);
            say(&format!("{fill} fill"));
        }
        voxelizer.distances(&mesh, 3.0).unwrap();
        say("distances");
        voxelizer.estimate(&mesh).unwrap();
        say("estimate");
        voxelizer.clone().tile(Some("1/8".parse::<Tile>().unwrap())).run(&mesh).unwrap();
        say("tile");
        say("end");
    });
    let mut last = "start".to_owned();
    while last != "end" {
        last = steps
            .recv_timeout(Duration::from_secs(120))
            .unwrap_or_else(|_| panic!("the step after '{last}' waits for the global pool"));
    }
}
