//! The studio: its page, its methods, and the files of runs. Only pages with the studio's cookie get more than the page itself.

mod files;
mod rpc;

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::extract::{ConnectInfo, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde::Deserialize;

use super::body;
use super::peer::is_own_user;
use super::service::Offered;

/// The largest request of a page, in bytes.
const REQUEST_BYTES: usize = 4 << 20;
/// The largest body with a key, in bytes.
const KEY_BYTES: usize = 4 << 10;

/// What the routes share.
#[derive(Clone)]
struct Door {
    offered: Offered,
    port: u16,
}

/// The routes of the studio.
pub fn routes(offered: Offered, port: u16) -> Router {
    let door = Door { offered, port };
    let admitted = Router::new()
        .route("/studio/runs/{workspace}/{run}/{*file}", get(files::run_file))
        .merge(rpc::routes(Arc::clone(&door.offered.studio), REQUEST_BYTES))
        .layer(from_fn_with_state(door.clone(), check));
    Router::new()
        .route("/studio/", get(files::page))
        .route("/studio/studio.js", get(files::script))
        .route("/studio/studio.css", get(files::style))
        .route("/studio/enter", post(enter))
        .merge(admitted)
        .with_state(door)
}

/// A key from the address of a page.
#[derive(Deserialize)]
struct StudioKey {
    key: String,
}

/// Exchanges a key for a cookie.
async fn enter(State(door): State<Door>, peer: ConnectInfo<SocketAddr>, request: Request) -> Response {
    let refused = |text: &'static str| (StatusCode::FORBIDDEN, text).into_response();
    if !door.is_own_page(&peer, request.headers()) {
        return refused("only the studio's own page may enter");
    }
    let key = body::read(request.into_body(), KEY_BYTES).await.ok();
    let key = key.and_then(|bytes| serde_json::from_slice::<StudioKey>(&bytes).ok());
    let cookie = key.and_then(|key| door.offered.entrance.enter(&key.key));
    let Some(cookie) = cookie else {
        return refused("this address was used already, or is too old; run `trailblaze studio` again");
    };
    // The name has the port, because browsers send cookies to all ports of a host.
    let cookie = format!("{}={cookie}; Path=/; HttpOnly; SameSite=Strict", cookie_name(door.port));
    (StatusCode::NO_CONTENT, [(header::SET_COOKIE, cookie), (header::CACHE_CONTROL, "no-store".to_string())])
        .into_response()
}

/// Lets requests of pages with the cookie pass.
async fn check(State(door): State<Door>, peer: ConnectInfo<SocketAddr>, request: Request, next: Next) -> Response {
    let headers = request.headers();
    let is_admitted = cookies(headers, &cookie_name(door.port)).any(|cookie| door.offered.entrance.admits(cookie));
    if is_admitted && door.is_own_page(&peer, headers) {
        return next.run(request).await;
    }
    let body = serde_json::json!({"code": "unauthenticated", "message": "run `trailblaze studio` to open this page"});
    (StatusCode::UNAUTHORIZED, axum::Json(body)).into_response()
}

impl Door {
    /// Whether a request comes from this user's browser, and not from another site. The guard has checked Host and Origin. Other
    /// servers of this machine also get the cookie, because browsers do not tell ports apart, so the cookie alone is not enough.
    fn is_own_page(&self, ConnectInfo(peer): &ConnectInfo<SocketAddr>, headers: &HeaderMap) -> bool {
        let site = headers.get("sec-fetch-site").and_then(|site| site.to_str().ok());
        site.is_none_or(|site| site == "same-origin" || site == "none") && is_own_user(*peer, self.port)
    }
}

fn cookie_name(port: u16) -> String {
    format!("trailblaze_studio_{port}")
}

/// The values of the cookies with this name.
fn cookies<'h>(headers: &'h HeaderMap, name: &'h str) -> impl Iterator<Item = &'h str> {
    let lines = headers.get_all(header::COOKIE).into_iter().filter_map(|value| value.to_str().ok());
    let pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.filter(move |(known, _)| *known == name).map(|(_, value)| value)
}
