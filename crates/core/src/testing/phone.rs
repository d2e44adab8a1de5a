//! What the fake device can do as a phone: everything is noted, and an audit finds one fault.

use async_trait::async_trait;

use super::FakeDriver;
use crate::driver::{
    AccessibilityAuditor, AccessibilityFault, AlertControl, AppLauncher, AppProcessState, AppProcesses, AuditScope,
    Budget, ClipboardReader, DeviceCommand, DriverError, LaunchSettings, LockControl, PhoneAbilities, PhoneAlert,
    PhoneCommand,
};

impl PhoneAbilities for FakeDriver {
    fn lock(&self) -> Option<&dyn LockControl> {
        Some(self)
    }

    fn clipboard_reader(&self) -> Option<&dyn ClipboardReader> {
        Some(self)
    }

    fn launcher(&self) -> Option<&dyn AppLauncher> {
        Some(self)
    }

    fn processes(&self) -> Option<&dyn AppProcesses> {
        Some(self)
    }

    fn alerts(&self) -> Option<&dyn AlertControl> {
        Some(self)
    }
}

impl FakeDriver {
    async fn take_phone(&self, budget: &Budget, command: PhoneCommand) -> Result<String, DriverError> {
        Ok(self.take(budget, &DeviceCommand::Phone(command)).await?.text)
    }
}

#[async_trait]
impl LockControl for FakeDriver {
    async fn lock(&self, budget: &Budget) -> Result<(), DriverError> {
        self.take_phone(budget, PhoneCommand::Lock).await.map(drop)
    }

    async fn unlock(&self, budget: &Budget) -> Result<(), DriverError> {
        self.take_phone(budget, PhoneCommand::Unlock).await.map(drop)
    }
}

#[async_trait]
impl ClipboardReader for FakeDriver {
    async fn read(&self, budget: &Budget) -> Result<String, DriverError> {
        self.take_phone(budget, PhoneCommand::GetClipboard).await
    }
}

#[async_trait]
impl AppLauncher for FakeDriver {
    async fn launch_with(&self, budget: &Budget, app: &str, how: &LaunchSettings) -> Result<(), DriverError> {
        let command = PhoneCommand::LaunchWith { app: app.to_string(), how: how.clone() };
        self.take_phone(budget, command).await.map(drop)
    }
}

#[async_trait]
impl AppProcesses for FakeDriver {
    async fn state(&self, budget: &Budget, app: &str) -> Result<AppProcessState, DriverError> {
        let told = self.take_phone(budget, PhoneCommand::GetAppState { app: app.to_string() }).await?;
        Ok(AppProcessState::parse(&told).unwrap_or(AppProcessState::Foreground))
    }
}

#[async_trait]
impl AlertControl for FakeDriver {
    async fn alert(&self, budget: &Budget) -> Result<Option<PhoneAlert>, DriverError> {
        let text = self.take_phone(budget, PhoneCommand::GetAlert).await?;
        Ok((!text.is_empty()).then(|| PhoneAlert { text, buttons: vec!["OK".to_string()] }))
    }

    async fn answer_alert(&self, budget: &Budget, accept: bool, button: Option<&str>) -> Result<(), DriverError> {
        let button = button.map(str::to_string);
        self.take_phone(budget, PhoneCommand::AnswerAlert { accept, button }).await.map(drop)
    }
}

#[async_trait]
impl AccessibilityAuditor for FakeDriver {
    async fn audit(&self, budget: &Budget, scope: &AuditScope) -> Result<Vec<AccessibilityFault>, DriverError> {
        self.take(budget, &DeviceCommand::Audit(scope.clone())).await?;
        let (rule, text) = ("contrast".to_string(), "the contrast is too low".to_string());
        Ok(vec![AccessibilityFault {
            rule,
            text,
            element: "Button \"Pay\"".to_string(),
            ..AccessibilityFault::default()
        }])
    }
}
