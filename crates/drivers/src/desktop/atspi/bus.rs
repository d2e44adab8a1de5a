//! The accessibility bus, which programs connect to by themselves, and one call to one element.

use std::sync::Arc;
use std::time::Duration;

use super::items::ListedItems;
use crate::desktop::dbus::{DBusArguments, DBusCall, DBusConnection, DBusError, DBusValue};

/// How long a bus may take to answer.
const BUS: Duration = Duration::from_secs(10);
const REGISTRY: &str = "org.a11y.atspi.Registry";
const ROOT: &str = "/org/a11y/atspi/accessible/root";

/// An element of a program: the name of the program on the bus, and the path of the element.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct AccessibleRef {
    pub app: Arc<str>,
    pub path: Arc<str>,
}

impl AccessibleRef {
    /// Reads a reference; `None` if it refers to nothing.
    pub fn read(value: &DBusValue) -> Option<AccessibleRef> {
        let [app, path] = value.items() else { return None };
        let (app, path) = (app.text()?, path.text()?);
        let is_null = app.is_empty() || path.ends_with("/null");
        (!is_null).then(|| AccessibleRef { app: app.into(), path: path.into() })
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AtspiError {
    /// The accessibility bus is gone.
    #[error("the accessibility bus is gone: {0}")]
    Gone(String),
    /// A program does not answer.
    #[error("it did not answer within {} s", .0.as_secs())]
    Silent(Duration),
    /// The element, or its program, is not there any more, or does not have what was asked for.
    #[error("{0}")]
    Refused(String),
}

impl From<DBusError> for AtspiError {
    fn from(error: DBusError) -> AtspiError {
        match error {
            DBusError::Gone(why) => AtspiError::Gone(why),
            DBusError::Silent { limit, .. } => AtspiError::Silent(limit),
            DBusError::Refused { .. } | DBusError::Unreachable { .. } => AtspiError::Refused(error.to_string()),
        }
    }
}

pub struct AtspiBus {
    connection: DBusConnection,
}

impl AtspiBus {
    /// Finds the accessibility bus of a session, which is started if it does not run, and switches accessibility on.
    pub async fn open(session: &DBusConnection) -> Result<AtspiBus, DBusError> {
        const NAME: &str = "org.a11y.Bus";
        let path = "/org/a11y/bus";
        let call = DBusCall { destination: NAME, path, interface: NAME, member: "GetAddress" };
        let address = session.call(call, &DBusArguments::new(), BUS).await?;
        let address = address.first().and_then(DBusValue::text).unwrap_or_default().to_string();
        let set = DBusCall { destination: NAME, path, interface: "org.freedesktop.DBus.Properties", member: "Set" };
        let enabled = DBusArguments::new().string("org.a11y.Status").string("IsEnabled").variant_bool(true);
        // Programs that have it always on do not need this.
        if let Err(error) = session.call(set, &enabled, BUS).await {
            tracing::debug!(target: "trailblaze::desktop", %error, "accessibility was not switched on");
        }
        let bus = AtspiBus { connection: DBusConnection::open(&address).await? };
        bus.listen().await;
        Ok(bus)
    }

    /// Says that somebody listens: before that, programs of GTK 3 keep no list of their elements. The event is one that hardly any program
    /// sends, so that they have nothing to do for it.
    async fn listen(&self) {
        let registry = AccessibleRef { app: REGISTRY.into(), path: "/org/a11y/atspi/registry".into() };
        let event = DBusArguments::new().string("terminal:charwidth-changed").no_strings().string("");
        let listened = self.call(&registry, "org.a11y.atspi.Registry", "RegisterEvent", &event, BUS).await;
        if let Err(error) = listened {
            tracing::debug!(target: "trailblaze::desktop", %error, "programs keep no lists of their elements");
        }
    }

    pub fn gone(&self) -> Option<String> {
        self.connection.gone()
    }

    /// Calls a method of an element.
    pub async fn call(
        &self,
        at: &AccessibleRef,
        interface: &str,
        member: &str,
        arguments: &DBusArguments,
        limit: Duration,
    ) -> Result<Vec<DBusValue>, AtspiError> {
        let call = DBusCall { destination: &at.app, path: &at.path, interface, member };
        Ok(self.connection.call(call, arguments, limit).await?)
    }

    /// A property of an element.
    pub async fn property(
        &self,
        at: &AccessibleRef,
        interface: &str,
        name: &str,
        limit: Duration,
    ) -> Result<DBusValue, AtspiError> {
        let arguments = DBusArguments::new().string(interface).string(name);
        let values = self.call(at, "org.freedesktop.DBus.Properties", "Get", &arguments, limit).await?;
        values.into_iter().next().ok_or_else(|| AtspiError::Refused(format!("`{name}` has no value")))
    }

    /// The children of an element.
    pub async fn children(&self, at: &AccessibleRef, limit: Duration) -> Result<Vec<AccessibleRef>, AtspiError> {
        let values = self.call(at, ACCESSIBLE, "GetChildren", &DBusArguments::new(), limit).await?;
        Ok(values.first().map(DBusValue::items).unwrap_or_default().iter().filter_map(AccessibleRef::read).collect())
    }

    /// What a program says about all of its elements at once. Many do not.
    pub async fn items(&self, app: &Arc<str>, limit: Duration) -> Result<ListedItems, AtspiError> {
        let cache = AccessibleRef { app: Arc::clone(app), path: "/org/a11y/atspi/cache".into() };
        let values = self.call(&cache, "org.a11y.atspi.Cache", "GetItems", &DBusArguments::new(), limit).await?;
        Ok(values.first().map(ListedItems::read).unwrap_or_default())
    }

    /// The programs that have a tree.
    pub async fn apps(&self) -> Result<Vec<AccessibleRef>, AtspiError> {
        let root = AccessibleRef { app: REGISTRY.into(), path: ROOT.into() };
        self.children(&root, BUS).await.map_err(|error| match error {
            // What lists the programs ends a moment before the bus does.
            AtspiError::Refused(why) => AtspiError::Gone(why),
            error => error,
        })
    }

    /// The process of a program.
    pub async fn pid(&self, app: &str) -> Result<u32, AtspiError> {
        let name = DBusArguments::new().string(app);
        let values = self.connection.call_bus("GetConnectionUnixProcessID", &name, BUS).await?;
        let pid = values.first().and_then(DBusValue::int).and_then(|pid| u32::try_from(pid).ok());
        pid.ok_or_else(|| AtspiError::Refused(format!("the bus does not know the process of `{app}`")))
    }
}

pub const ACCESSIBLE: &str = "org.a11y.atspi.Accessible";
