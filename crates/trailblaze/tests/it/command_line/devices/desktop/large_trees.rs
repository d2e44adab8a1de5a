//! Trees of 20,000 elements, and programs that take long to describe them.

use serde_json::json;

use super::desk::{Desk, has};
use super::listed_program::ListedProgram;
use crate::support::is_full_tier;

#[tokio::test]
async fn a_list_of_20000_items_is_read_where_it_is_in_view() {
    if !has(&["python3"]) {
        return;
    }
    let desk = Desk::open().await;
    let rows = json!({"role": "item", "name": "Row {n}", "times": 20_000});
    let elements = json!([
        {"role": "button", "name": "Sort", "id": "sort"},
        {"role": "label", "name": "idle", "id": "status"},
        {"role": "list", "name": "Rows", "height": 480, "elements": [rows]},
    ]);
    let program = ListedProgram::new(desk.temp.path(), "Table", elements);
    desk.launch(&program.command).await;
    let screen = desk.screen().await;
    assert!(screen.contains("items 1 to 20 of 20000; scroll to see others"), "{screen}");
    assert!(screen.contains("\"Row 20\"") && !screen.contains("\"Row 21\""), "{screen}");
    desk.tap("Sort").await;
    desk.until("the program answers", |screen| screen.contains("Sort was pressed")).await;
    desk.close().await;
}

/// In the full tier, because the program, which is a script, needs seconds to describe that much.
#[tokio::test]
async fn a_tree_of_20000_elements_in_view_is_cut_off_and_says_so() {
    if !is_full_tier() || !has(&["python3"]) {
        return;
    }
    let desk = Desk::open().await;
    let cells = json!({"role": "button", "name": "Cell {n}", "times": 100, "width": 4, "height": 5});
    let elements = json!([
        {"role": "button", "name": "First"},
        {"role": "label", "name": "idle", "id": "status"},
        {"role": "panel", "name": "Panel {n}", "times": 200, "width": 40, "height": 50, "elements": [cells]},
    ]);
    let program = ListedProgram::new(desk.temp.path(), "Cells", elements);
    desk.launch(&program.command).await;
    let screen = desk.screen().await;
    let is_said = screen.contains("items were not read: the program has over 10000 elements");
    let n_cells = screen.matches("Button \"Cell").count();
    assert!(is_said && (5_000..=10_000).contains(&n_cells), "{n_cells} cells");
    desk.tap("First").await;
    desk.until("the program answers", |screen| screen.contains("First was pressed")).await;
    desk.close().await;
}

/// In the full tier, because it lasts as long as the program takes.
#[tokio::test]
async fn a_program_that_is_slow_but_answers_is_waited_for() {
    if !is_full_tier() || !has(&["python3"]) {
        return;
    }
    let desk = Desk::open().await;
    let elements = json!([{"role": "button", "name": "Button {n}", "times": 40, "width": 20}]);
    let program = ListedProgram::new(desk.temp.path(), "Slow", json!([]));
    program.show(json!({"title": "Slow", "slow": 0.02, "elements": elements}));
    desk.launch(&program.command).await;
    let screen = desk.screen().await;
    assert!(screen.contains("Button \"Button 40\""), "{screen}");
    desk.close().await;
}
