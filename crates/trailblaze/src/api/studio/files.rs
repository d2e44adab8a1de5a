//! The files of the page, which are built from `ui` (`./scripts/ui`), and the files of runs.

use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::header::{HeaderName, HeaderValue};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::Door;

const PAGE: &str = include_str!("../pages/studio.html");
const SCRIPT: &str = include_str!("../pages/studio.js");
const STYLE: &str = include_str!("../pages/studio.css");

/// What the page may load: its own files and pictures, nothing from elsewhere.
const PAGE_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; \
                           connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";
/// The record of a run may come from elsewhere, so its files get an origin of their own, without the cookie.
const REPORT_POLICY: &str = "sandbox allow-scripts allow-popups";
const FILE_POLICY: &str = "default-src 'none'; sandbox";

pub async fn page() -> Response {
    sent("text/html; charset=utf-8", PAGE_POLICY, PAGE)
}

pub async fn script() -> Response {
    sent("text/javascript; charset=utf-8", FILE_POLICY, SCRIPT)
}

pub async fn style() -> Response {
    sent("text/css; charset=utf-8", FILE_POLICY, STYLE)
}

pub async fn run_file(
    State(door): State<Door>,
    Path((workspace, run, file)): Path<(String, String, String)>,
) -> Response {
    let missing = || (StatusCode::NOT_FOUND, "there is no such file").into_response();
    let Some(path) = door.offered.entrance.run_file(&workspace, &run, &file) else { return missing() };
    let Ok(bytes) = tokio::fs::read(path).await else { return missing() };
    let (kind, policy) = match file.rsplit('.').next().unwrap_or_default() {
        "html" => ("text/html; charset=utf-8", REPORT_POLICY),
        "png" => ("image/png", FILE_POLICY),
        "webp" => ("image/webp", FILE_POLICY),
        "jpg" | "jpeg" => ("image/jpeg", FILE_POLICY),
        "gif" => ("image/gif", FILE_POLICY),
        "json" | "jsonl" => ("application/json", FILE_POLICY),
        "css" => ("text/css; charset=utf-8", FILE_POLICY),
        "txt" | "log" | "yaml" | "xml" | "csv" | "js" => ("text/plain; charset=utf-8", FILE_POLICY),
        _ => ("application/octet-stream", FILE_POLICY),
    };
    sent(kind, policy, bytes)
}

fn sent(kind: &'static str, policy: &'static str, body: impl Into<Body>) -> Response {
    let headers: [(HeaderName, HeaderValue); 6] = [
        (header::CONTENT_TYPE, HeaderValue::from_static(kind)),
        (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy)),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
        (HeaderName::from_static("cross-origin-resource-policy"), HeaderValue::from_static("same-origin")),
    ];
    (headers, body.into()).into_response()
}
