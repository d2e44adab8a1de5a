//! The states of an element, as a set of numbers.

use crate::desktop::dbus::DBusValue;

/// What an element is at the moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AtspiStates(pub u64);

impl AtspiStates {
    pub const CHECKED: u32 = 4;
    pub const DEFUNCT: u32 = 6;
    pub const EDITABLE: u32 = 7;
    pub const ENABLED: u32 = 8;
    pub const EXPANDABLE: u32 = 9;
    pub const EXPANDED: u32 = 10;
    pub const FOCUSED: u32 = 12;
    pub const MULTI_LINE: u32 = 17;
    pub const PRESSED: u32 = 20;
    pub const SELECTED: u32 = 23;
    pub const SENSITIVE: u32 = 24;
    pub const SHOWING: u32 = 25;
    pub const VISIBLE: u32 = 30;
    pub const INDETERMINATE: u32 = 32;
    pub const CHECKABLE: u32 = 41;
    pub const READ_ONLY: u32 = 43;

    /// Two numbers of 32 bits.
    pub fn read(value: &DBusValue) -> AtspiStates {
        let half = |at: usize| value.items().get(at).and_then(DBusValue::int).unwrap_or(0) as u64 & 0xffff_ffff;
        AtspiStates(half(0) | half(1) << 32)
    }

    pub fn with(self, state: u32) -> AtspiStates {
        AtspiStates(self.0 | 1 << state)
    }

    pub fn has(self, state: u32) -> bool {
        self.0 >> state & 1 == 1
    }
}
