//! What a program says about all of its elements in one answer. GTK 3 and Chromium have nearly all elements in this list, GTK 4 a few, Qt
//! none: the others are asked one by one.

use std::collections::HashMap;

use super::bus::AccessibleRef;
use super::states::AtspiStates;
use crate::desktop::dbus::DBusValue;

/// What an element is, as the list or the element itself says.
#[derive(Debug, Clone, PartialEq)]
pub struct ListedItem {
    pub role: u32,
    pub states: AtspiStates,
    pub name: String,
    /// `None` if it was not asked for.
    pub description: Option<String>,
    /// How many children it has. `None` if these are not in the list, as the cells of a table.
    pub count: Option<usize>,
}

/// The elements of a program that are in its list.
#[derive(Debug, Default)]
pub struct ListedItems {
    items: HashMap<AccessibleRef, ListedItem>,
    /// The children of each element, with their places among each other.
    children: HashMap<AccessibleRef, Vec<(usize, AccessibleRef)>>,
}

impl ListedItems {
    /// Reads the list. What is not of the form that is usual today is left out.
    pub fn read(list: &DBusValue) -> ListedItems {
        let mut listed = ListedItems::default();
        for item in list.items() {
            listed.add(item.items());
        }
        listed
    }

    fn add(&mut self, fields: &[DBusValue]) -> Option<()> {
        let [at, _, parent, index, count, _, name, role, description, states] = fields else { return None };
        let at = AccessibleRef::read(at)?;
        let number = |value: &DBusValue| value.int().and_then(|number| usize::try_from(number).ok());
        let item = ListedItem {
            role: role.int().and_then(|role| u32::try_from(role).ok())?,
            states: AtspiStates::read(states),
            name: name.text()?.to_string(),
            description: Some(description.text()?.to_string()),
            count: number(count),
        };
        if let (Some(parent), Some(index)) = (AccessibleRef::read(parent), number(index)) {
            self.children.entry(parent).or_default().push((index, at.clone()));
        }
        self.items.insert(at, item);
        Some(())
    }

    pub fn len(&self) -> usize {
        self.items.len()
    }

    pub fn get(&self, at: &AccessibleRef) -> Option<&ListedItem> {
        self.items.get(at)
    }

    /// The children of an element, if all of them are in the list: some may have just come or gone.
    pub fn children(&self, at: &AccessibleRef) -> Option<Vec<AccessibleRef>> {
        let count = self.items.get(at)?.count?;
        let mut children = self.children.get(at).cloned().unwrap_or_default();
        children.sort_unstable_by_key(|(index, _)| *index);
        let is_complete = children.len() == count && children.iter().map(|(index, _)| *index).eq(0..count);
        is_complete.then(|| children.into_iter().map(|(_, child)| child).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reference(path: &str) -> DBusValue {
        DBusValue::Tuple(vec![DBusValue::Text(":1.7".to_string()), DBusValue::Text(path.to_string())])
    }

    fn item(path: &str, parent: &str, index: i64, count: i64) -> DBusValue {
        let text = |text: &str| DBusValue::Text(text.to_string());
        let states = DBusValue::List(vec![DBusValue::Int(1 << AtspiStates::SHOWING), DBusValue::Int(0)]);
        DBusValue::Tuple(vec![
            reference(path),
            reference("/root"),
            reference(parent),
            DBusValue::Int(index),
            DBusValue::Int(count),
            DBusValue::List(Vec::new()),
            text("name"),
            DBusValue::Int(43),
            text("description"),
            states,
        ])
    }

    fn at(path: &str) -> AccessibleRef {
        AccessibleRef::read(&reference(path)).expect("a reference")
    }

    #[test]
    fn elements_are_listed_with_their_children_in_order() {
        let list = [item("/top", "/root", 0, 2), item("/b", "/top", 1, 0), item("/a", "/top", 0, 0)];
        let listed = ListedItems::read(&DBusValue::List(list.to_vec()));
        assert_eq!(listed.children(&at("/top")), Some(vec![at("/a"), at("/b")]));
        assert_eq!(listed.children(&at("/a")), Some(Vec::new()));
        let item = listed.get(&at("/b")).expect("it is listed");
        assert_eq!((item.role, item.name.as_str(), item.description.as_deref()), (43, "name", Some("description")));
        assert!(item.states.has(AtspiStates::SHOWING));
    }

    #[test]
    fn children_that_are_not_all_in_the_list_are_asked_for() {
        let missing = [item("/top", "/root", 0, 2), item("/a", "/top", 0, 0)];
        let twice = [item("/top", "/root", 0, 2), item("/a", "/top", 0, 0), item("/b", "/top", 0, 0)];
        let unknown = [item("/top", "/root", 0, -1), item("/a", "/top", 0, 0)];
        let unplaced = [item("/top", "/root", 0, 1), item("/a", "/top", -1, 0)];
        for list in [&missing[..], &twice, &unknown, &unplaced] {
            let listed = ListedItems::read(&DBusValue::List(list.to_vec()));
            assert_eq!(listed.children(&at("/top")), None, "{list:?}");
        }
        assert_eq!(ListedItems::default().children(&at("/top")), None);
    }

    #[test]
    fn a_list_of_another_form_is_left_out() {
        let mut short = item("/a", "/top", 0, 0);
        let DBusValue::Tuple(fields) = &mut short else { panic!("an item") };
        fields.remove(3);
        for list in [DBusValue::List(vec![short]), DBusValue::List(vec![DBusValue::Int(1)]), DBusValue::Int(1)] {
            assert_eq!(ListedItems::read(&list).len(), 0, "{list:?}");
        }
    }
}
