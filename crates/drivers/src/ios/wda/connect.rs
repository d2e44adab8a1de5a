//! Opens connections to WebDriverAgent: over the network, or through the cable of an iPhone.

use std::error::Error;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::Uri;
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::client::legacy::connect::{Connected, Connection, HttpConnector};
use hyper_util::rt::TokioIo;
use tower_service::Service;

use super::address::{CabledPort, WdaAddress};
use crate::ios::usb::{MuxStream, Usbmuxd};

/// Makes the connections of one client.
#[derive(Clone)]
pub struct WdaConnector {
    network: HttpConnector,
    cable: Option<(Usbmuxd, CabledPort)>,
}

impl WdaConnector {
    pub fn new(address: &WdaAddress, usbmuxd: &Usbmuxd, timeout: Duration) -> WdaConnector {
        let mut network = HttpConnector::new();
        network.set_nodelay(true);
        network.set_connect_timeout(Some(timeout));
        WdaConnector { network, cable: address.cabled().map(|port| (usbmuxd.clone(), port.clone())) }
    }
}

type BoxError = Box<dyn Error + Send + Sync>;

impl Service<Uri> for WdaConnector {
    type Response = WdaStream;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<WdaStream, BoxError>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.network.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, to: Uri) -> Self::Future {
        let (mut network, cable) = (self.network.clone(), self.cable.clone());
        Box::pin(async move {
            let io: MuxStream = match cable {
                Some((usbmuxd, CabledPort { udid, port })) => usbmuxd.connect(&udid, port).await?,
                None => Box::new(network.call(to).await?.into_inner()),
            };
            Ok(WdaStream(TokioIo::new(io)))
        })
    }
}

/// A connection of either kind.
pub struct WdaStream(TokioIo<MuxStream>);

impl Connection for WdaStream {
    fn connected(&self) -> Connected {
        Connected::new()
    }
}

impl Read for WdaStream {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, to: ReadBufCursor<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, to)
    }
}

impl Write for WdaStream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<std::io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}
