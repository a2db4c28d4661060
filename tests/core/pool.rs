//! A voxelizer with its own threads must not use rayon's global pool: in a forked child the threads
//! of that pool do not exist, and whoever waits for them hangs.

use std::process::Command;
use std::sync::mpsc;
use std::time::Duration;

use rayon::ThreadPoolBuilder;
use trivox::grid::Attribute;
use trivox::{Fill, Mode, Solid, Tile, Voxelizer};

#[test]
fn no_step_leaves_the_threads_that_were_asked_for() {
    let name = "pool::steps_end_while_the_global_pool_is_blocked";
    let program = std::env::current_exe().unwrap();
    let output = Command::new(program).args(["--exact", name, "--ignored"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}

#[test]
#[ignore = "blocks the global pool of its process: the test above runs it in one of its own"]
fn steps_end_while_the_global_pool_is_blocked() {
    // Block the only thread of the global pool: whatever uses the pool hangs.
    ThreadPoolBuilder::new().num_threads(1).build_global().unwrap();
    rayon::spawn(|| {
        loop {
            std::thread::park();
        }
    });
    let (done, steps) = mpsc::channel();
    std::thread::spawn(move || {
        let voxelizer = Voxelizer::new().resolution(64).threads(2);
        let mesh = voxelizer.load("assets/lighthouse.obj").unwrap().mesh;
        let solid =
            |fill| voxelizer.clone().mode(Mode::Solid(Solid { fill, include_surface: true }));
        let say = |step: &str| done.send(step.to_owned()).unwrap();
        voxelizer.run(&mesh).unwrap();
        say("surface");
        voxelizer.clone().mode(Mode::Thin).run(&mesh).unwrap();
        say("thin");
        voxelizer.clone().attributes(Attribute::ALL.iter().copied()).run(&mesh).unwrap();
        say("attributes");
        for fill in [Fill::Auto, Fill::Parity, Fill::Winding, Fill::Flood, Fill::Vote] {
            _ = solid(fill).run(&mesh);
            say(&format!("{fill} fill"));
        }
        voxelizer.distances(&mesh, 3.0).unwrap();
        say("distances");
        voxelizer.estimate(&mesh).unwrap();
        say("estimate");
        voxelizer.clone().tile("1/8".parse::<Tile>().unwrap()).run(&mesh).unwrap();
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
