//! Which keys of the keyboard type what, and keys for signs that none types.

use std::collections::HashMap;

use x11rb::connection::Connection;
use x11rb::protocol::xproto::ConnectionExt;

use super::connection::{XConnection, XServerError};
use super::keys::{KeyChord, KeyStroke};

const SHIFT: u32 = 0xffe1;

/// The keys of the keyboard, and those without a function, which are given one when it is needed.
pub struct Keymap {
    /// Which key types a symbol, and whether with Shift.
    codes: HashMap<u32, (u8, bool)>,
    free: Vec<u8>,
    /// Symbols that we gave keys to, oldest first.
    given: Vec<u32>,
    per_code: u8,
}

impl Keymap {
    pub fn read(x: &XConnection) -> Result<Keymap, XServerError> {
        let (first, last) = (x.x.setup().min_keycode, x.x.setup().max_keycode);
        let reply = x.x.get_keyboard_mapping(first, last - first + 1)?.reply()?;
        let per_code = reply.keysyms_per_keycode.max(1);
        let (mut codes, mut free) = (HashMap::new(), Vec::new());
        for (code, symbols) in (first..=last).zip(reply.keysyms.chunks(usize::from(per_code))) {
            let plain = symbols.first().copied().unwrap_or(0);
            // An alphabetic key may leave out its capital letter.
            let is_letter = (0x61..=0x7a).contains(&plain);
            let shifted = match symbols.get(1).copied().unwrap_or(0) {
                0 if is_letter => plain - 0x20,
                shifted => shifted,
            };
            if symbols.iter().all(|symbol| *symbol == 0) {
                free.push(code);
            }
            for (symbol, is_shifted) in [(plain, false), (shifted, true)] {
                if symbol != 0 {
                    codes.entry(symbol).or_insert((code, is_shifted));
                }
            }
        }
        Ok(Keymap { codes, free, given: Vec::new(), per_code })
    }

    /// Gives keys to all symbols that none types.
    fn prepare(&mut self, x: &XConnection, symbols: impl Iterator<Item = u32>) -> Result<(), XServerError> {
        let missing: Vec<u32> = symbols.filter(|symbol| !self.codes.contains_key(symbol)).collect();
        for symbol in missing {
            if self.codes.contains_key(&symbol) {
                continue;
            }
            if self.free.is_empty() && !self.given.is_empty() {
                let oldest = self.given.remove(0);
                self.free.extend(self.codes.remove(&oldest).map(|(code, _)| code));
            }
            let Some(code) = self.free.pop() else {
                return Err(XServerError::Wrong("the keyboard has no free key for signs that it lacks".to_string()));
            };
            let symbols = vec![symbol; usize::from(self.per_code)];
            x.x.change_keyboard_mapping(1, code, self.per_code, &symbols)?;
            self.codes.insert(symbol, (code, false));
            self.given.push(symbol);
        }
        x.finish()
    }

    /// Types keys one after the other.
    pub fn type_all(&mut self, x: &XConnection, keys: &[KeyStroke]) -> Result<(), XServerError> {
        // A key gets one meaning for all of them: a program reads the meaning of a key when it gets to its press.
        self.prepare(x, keys.iter().map(|key| key.0).chain([SHIFT]))?;
        for key in keys {
            let Some((code, is_shifted)) = self.codes.get(&key.0).copied() else {
                return Err(XServerError::Wrong("the text has too many signs that the keyboard lacks".to_string()));
            };
            let shift = self.codes.get(&SHIFT).filter(|_| is_shifted).map(|(code, _)| *code);
            if let Some(shift) = shift {
                x.key(shift, true)?;
            }
            x.key(code, true)?;
            x.key(code, false)?;
            if let Some(shift) = shift {
                x.key(shift, false)?;
            }
        }
        x.finish()
    }

    /// Presses keys together, so many times.
    pub fn press(&mut self, x: &XConnection, chord: &KeyChord, count: u32) -> Result<(), XServerError> {
        self.prepare(x, chord.held.iter().map(|key| key.0).chain([chord.key.0, SHIFT]))?;
        let (code, is_shifted) = self.codes.get(&chord.key.0).copied().unwrap_or_default();
        let mut held: Vec<u8> =
            chord.held.iter().filter_map(|key| self.codes.get(&key.0)).map(|(code, _)| *code).collect();
        if let Some((shift, _)) = self.codes.get(&SHIFT).filter(|(shift, _)| is_shifted && !held.contains(shift)) {
            held.push(*shift);
        }
        for _ in 0..count {
            for held in &held {
                x.key(*held, true)?;
            }
            x.key(code, true)?;
            x.key(code, false)?;
            for held in held.iter().rev() {
                x.key(*held, false)?;
            }
        }
        x.finish()
    }

    /// Presses or releases keys, and leaves them so.
    pub fn hold(&mut self, x: &XConnection, keys: &[KeyStroke], is_held: bool) -> Result<(), XServerError> {
        self.prepare(x, keys.iter().map(|key| key.0))?;
        for (code, _) in keys.iter().filter_map(|key| self.codes.get(&key.0)) {
            x.key(*code, is_held)?;
        }
        x.finish()
    }

    /// Takes back what keys were given: another's keyboard is as it was.
    pub fn restore(&mut self, x: &XConnection) -> Result<(), XServerError> {
        let nothing = vec![0; usize::from(self.per_code)];
        for symbol in self.given.drain(..) {
            if let Some((code, _)) = self.codes.remove(&symbol) {
                x.x.change_keyboard_mapping(1, code, self.per_code, &nothing)?;
                self.free.push(code);
            }
        }
        x.finish()
    }
}
