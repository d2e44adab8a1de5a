//! Walks through the wallet example on every platform, writes each screen as a PNG file to the given folder, and prints
//! how long a picture takes: `cargo run -p trailblaze-drivers --example sim_gallery -- /tmp/gallery`.

use std::fs::File;
use std::path::Path;
use std::time::{Duration, Instant};

use trailblaze_core::driver::{Action, ActionTarget, Budget, Driver, ObserveOptions};
use trailblaze_core::screen::{Picture, Pixels};
use trailblaze_drivers::sim::{Options, Sim, demo_app};
use trailblaze_protocol::driver::{DriverKey, Platform};
use trailblaze_protocol::ids::DeviceId;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let folder = std::env::args().nth(1).expect("a folder to write to");
    std::fs::create_dir_all(&folder).expect("the folder can be made");
    for platform in Platform::ALL {
        let mut walk = Walk { sim: open(platform), platform, folder: folder.clone(), count: 0 };
        walk.look("launcher").await;
        walk.tap("Wallet").await;
        walk.look("sign-in").await;
        walk.fill("email", "ada@example.com").await;
        walk.fill("pin", "12").await;
        walk.look("typing").await;
        walk.tap("Sign in").await;
        walk.look("wrong-pin").await;
        walk.fill("pin", "34").await;
        walk.tap("Sign in").await;
        walk.look("home").await;
        tokio::time::sleep(Duration::from_millis(450)).await;
        walk.look("prompt").await;
        walk.tap("Allow").await;
        walk.tap("Request").await;
        walk.look("toast").await;
        walk.time().await;
        walk.tap("Settings").await;
        walk.look("settings").await;
        walk.tap("Home").await;
        walk.tap("Send money").await;
        walk.fill("recipient", "Ada").await;
        walk.fill("amount", "12.50").await;
        walk.look("send").await;
        walk.tap("Review").await;
        walk.look("confirm").await;
        walk.tap("Send").await;
        walk.look("sending").await;
        tokio::time::sleep(Duration::from_millis(650)).await;
        walk.look("receipt").await;
    }
}

fn open(platform: Platform) -> Sim {
    let id = DeviceId::new(format!("{platform}/sim-1"));
    Sim::open(id, platform, DriverKey::default_for(platform), vec![demo_app()], Options::default())
}

struct Walk {
    sim: Sim,
    platform: Platform,
    folder: String,
    count: usize,
}

impl Walk {
    fn budget(&self) -> Budget {
        let deadline = tokio::time::Instant::now() + Duration::from_secs(5);
        Budget::new(deadline, tokio_util::sync::CancellationToken::new())
    }

    async fn look(&mut self, name: &str) {
        let started = Instant::now();
        let screen = self.sim.observe(&self.budget(), ObserveOptions::PICTURE).await.expect("the device is there");
        let took = started.elapsed();
        self.count += 1;
        let file = format!("{}/{}-{:02}-{name}.png", self.folder, self.platform, self.count);
        write(Path::new(&file), &screen.picture.expect("a picture was asked for"));
        println!("{file} {took:.2?} {} elements", screen.root.walk().count());
    }

    async fn time(&self) {
        for want in [ObserveOptions::TREE, ObserveOptions::PICTURE] {
            let started = Instant::now();
            for _ in 0..50 {
                self.sim.observe(&self.budget(), want).await.expect("the device is there");
            }
            println!("{} {want:?}: {:.2?} on average", self.platform, started.elapsed() / 50);
        }
    }

    async fn tap(&mut self, text: &str) {
        self.touch(|node| node.text() == Some(text) && node.is_clickable(), Action::Tap).await;
    }

    async fn fill(&mut self, id: &str, text: &str) {
        self.touch(|node| node.has_id(id), Action::InputText { text: text.to_string() }).await;
    }

    async fn touch(&mut self, is_it: impl Fn(&trailblaze_core::screen::Node) -> bool, action: Action) {
        let screen = self.sim.observe(&self.budget(), ObserveOptions::TREE).await.expect("the device is there");
        let node = screen.root.walk().filter(|node| is_it(node)).last().expect("the element is there");
        let point = node.bounds.expect("it has bounds").center();
        self.sim.act(&self.budget(), &ActionTarget::Point(point), &action).await.expect("it can be touched");
    }
}

fn write(path: &Path, picture: &Picture) {
    let Pixels::Rgba(pixels) = &picture.pixels else { return };
    let file = File::create(path).expect("the file can be written");
    let mut encoder = png::Encoder::new(file, picture.size.width, picture.size.height);
    encoder.set_color(png::ColorType::Rgba);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header().expect("a header");
    writer.write_image_data(pixels).expect("the pixels fit");
}
