//! `trailblaze studio`: the page in which people work on devices and watch runs.

use std::io::IsTerminal;

use clap::Args;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::json;
use trailblaze_protocol::exit::Exit;

use super::in_session::{self, SessionArgs, unexpected};
use super::shell::OnDeviceArgs;
use super::{Context, Refusal};
use crate::output::print;
use crate::sessions::service::{OpenRequest, ServiceAnswer, ServiceRequest, StudioAddress, StudioRequest};

/// What needs no encoding in the parameters of an address.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'/');

/// Work on a device in a browser page: record by pointing, edit and save steps, watch runs
///
/// With `-d`, the page opens on that device; otherwise it lists the devices, trails and runs of the project. The address contains a
/// key that admits one page.
#[derive(Args)]
pub struct StudioArgs {
    #[command(flatten)]
    session: SessionArgs,
    #[command(flatten)]
    on: OnDeviceArgs,
    /// Start this app, or open this page, unless the session is open and has steps
    #[arg(long, value_name = "APP|URL", requires = "device")]
    launch: Option<String>,
    /// End the session that uses the device
    #[arg(long, requires = "device")]
    take_over: bool,
    #[command(flatten)]
    page: PageArgs,
}

/// How a page is opened.
#[derive(Args, Debug, Clone, Copy, Default)]
pub struct PageArgs {
    /// Print the address, but do not open a browser
    #[arg(long)]
    no_open: bool,
    /// Print the address as JSON, and do not open a browser
    #[arg(long)]
    json: bool,
}

pub async fn studio(context: &Context, args: StudioArgs) -> Result<Exit, Refusal> {
    let mut view = Vec::new();
    if !args.on.device.is_empty() || args.session.session.is_some() {
        let request = in_session::open_request(context, &args.on, &args.session)?;
        // A person can work in the window of a browser, beside the page.
        let devices = context.load(None)?.devices(&args.on.device)?;
        let follows_person = args.on.headed && devices.first().is_some_and(|device| device.follows_person);
        let request = OpenRequest { takes_over: args.take_over, follows_person, ..request };
        let info = in_session::open(context, request).await?;
        match &args.launch {
            // The page goes on where the work was left: starting the app again would end it, and add a call to the last step.
            Some(what) if info.steps > 0 => {
                print::say(format!("session `{}` is open and has steps, so `{what}` was not started again", info.name));
            }
            Some(what) => {
                if let Some(exit) = in_session::launch(context, &info, what, args.page.json).await? {
                    return Ok(exit);
                }
            }
            None => {}
        }
        view.push(("view", format!("/session/{}", utf8_percent_encode(&info.name, PLAIN))));
    }
    let device = args.on.device.first().cloned();
    // The page shows them too, but only once it is open.
    print::problems(&context.load(None)?.problems);
    let client = context.place();
    open_page(context, StudioRequest { client, device }, &view, args.page).await
}

/// Opens a page of the studio with these parameters.
pub async fn open_page(
    context: &Context,
    request: StudioRequest,
    params: &[(&str, String)],
    page: PageArgs,
) -> Result<Exit, Refusal> {
    let StudioAddress { address, workspace, key } = match context.ask(ServiceRequest::Studio(request)).await? {
        ServiceAnswer::Studio(address) => address,
        other => return Err(unexpected(&other)),
    };
    let encoded = params.iter().map(|(name, value)| format!("&{name}={}", utf8_percent_encode(value, PLAIN)));
    let address = format!("{address}#key={key}&workspace={workspace}{}", encoded.collect::<String>());
    if page.json {
        print::json(&json!({"address": address, "workspace": workspace}));
        return Ok(Exit::Passed);
    }
    print::data(&address);
    // A script that runs this wants the address.
    if !page.no_open && std::io::stdout().is_terminal() && open::that_detached(&address).is_err() {
        print::say("No browser could be opened; open this address in one.");
    }
    print::say("The address admits one page, within 10 minutes. `trailblaze daemon stop` ends the studio.");
    Ok(Exit::Passed)
}
