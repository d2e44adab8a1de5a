//! Typing: into fields that are covered, drawn again, or not there.

use crate::browser::web::acting::holds;
use crate::browser::web::trouble::check;

#[test]
fn a_covered_field_can_be_filled_and_not_clicked() {
    let page = "<label>Name <input id=name></label><label>Size <select id=size><option>Small<option>Large</select></label>\
                <div style='position:fixed; inset:0; background:#eee9'>A veil</div>";
    check(
        page,
        &[
            "web_type: {ref: 'css=#name', text: Ada}",
            "web_selectOption: {ref: 'css=#size', values: [Large]}",
            &holds("document.getElementById('name').value === 'Ada' && size.value === 'Large'"),
            "web_click: {ref: 'css=#name', timeoutMs: 100}",
        ],
        1,
        &["covered by", "A veil"],
    );
    check(
        &page.replace("<input ", "<input disabled "),
        &["web_type: {ref: 'css=#name', text: Ada, timeoutMs: 100}"],
        1,
        &["is disabled"],
    );
}

#[test]
fn a_field_that_is_drawn_again_is_looked_for_again() {
    let value = holds("document.querySelector('input').value === 'Ada'");
    for drawn in [
        // As it gets the focus, at once or a moment later.
        "box.addEventListener('focusin', () => { if (n++ < 2) draw() })",
        "box.addEventListener('focusin', () => { if (n++ < 2) setTimeout(draw) })",
        "box.addEventListener('focusin', () => { if (n++ < 2) queueMicrotask(draw) })",
        // As it gets its text, which is lost.
        "box.addEventListener('input', () => { if (n++ < 1) draw() })",
    ] {
        let page = format!(
            "<div id=box></div><script>let n = 0; const draw = () => box.innerHTML = '<input aria-label=Name>'; draw(); {drawn}</script>"
        );
        let fill = "web_type: {ref: 'textbox \"Name\"', text: Ada}";
        check(&page, &[fill, &value], 0, &[]);
    }
    // A page that draws its field at each input and keeps the text and the focus is not typed into again.
    let kept = "<div id=box></div><script>let n = 0; const draw = (text) => { box.innerHTML = '<input aria-label=Name>'; \
                box.firstChild.value = text }; draw(''); box.addEventListener('input', (e) => { n++; draw(e.target.value.toUpperCase()); box.firstChild.focus() })</script>";
    check(
        kept,
        &[
            "web_type: {ref: 'textbox \"Name\"', text: Ada}",
            &holds("n === 1 && document.querySelector('input').value === 'ADA'"),
        ],
        0,
        &[],
    );
}

#[test]
fn a_field_that_is_drawn_again_with_its_text_is_filled() {
    for later in ["draw()", "queueMicrotask(draw)", "setTimeout(draw)", "setTimeout(draw, 50)"] {
        let page = format!(
            "<div id=box></div><script>let n = 0, text = ''; const draw = () => {{ box.innerHTML = '<label>Name <input></label>'; \
             box.querySelector('input').value = text }}; draw(); box.oninput = (e) => {{ n++; text = e.target.value; {later} }}</script>"
        );
        let filled = holds("n === 1 && text === 'Ada'");
        check(&page, &["web_type: {ref: 'textbox \"Name\"', text: Ada}", &filled], 0, &[]);
        let form = "web_fillForm: {fields: [{ref: 'textbox \"Name\"', value: Ada}]}";
        check(&page, &[form, &filled], 0, &[]);
    }
}

#[test]
fn text_that_is_added_goes_behind_what_is_there() {
    let long = "one two three four five";
    let page = format!(
        "<input aria-label=Plain value='{long}'><input type=number aria-label=Number value=12345678><input type=email aria-label=Mail value=someone@example.com>\
         <textarea aria-label=Area cols=30 rows=4>line one\nline two\nline three</textarea>\
         <div contenteditable aria-label=Rich><p id=first>first part</p><p>second part</p></div>"
    );
    let add = |field: &str, text: &str| format!("web_type: {{ref: '{field}', text: '{text}', clearFirst: false}}");
    let value =
        |field: &str, text: &str| holds(&format!("document.querySelector('[aria-label={field}]').value === `{text}`"));
    let made = [
        add("textbox \"Plain\"", " six"),
        value("Plain", "one two three four five six"),
        add("spinbutton \"Number\"", "9"),
        value("Number", "123456789"),
        add("textbox \"Mail\"", ".org"),
        value("Mail", "someone@example.com.org"),
        add("textbox \"Area\"", "!"),
        value("Area", "line one\\nline two\\nline three!"),
        add("css=#first", "!"),
        add("textbox \"Rich\"", "?"),
        holds(
            "document.querySelector('[aria-label=Rich]').innerText.replace(/\\s+/g, ` `) === 'first part! second part?'",
        ),
    ];
    check(&page, &made.each_ref().map(String::as_str), 0, &[]);
}

#[test]
fn text_goes_where_the_focus_is_and_nowhere_else() {
    let page = "<label>Name <input id=name value=Ada></label><button>Pay</button><iframe srcdoc=\"<input aria-label=Inner value=old>\"></iframe>";
    let value = |text: &str| holds(&format!("document.getElementById('name').value === '{text}'"));
    check(page, &["web_click: {ref: 'css=#name'}", "web_type: {text: Eve}", &value("Eve")], 0, &[]);
    check(
        page,
        &[
            "web_click: {ref: 'css=#name'}",
            "web_pressKey: {key: End}",
            "web_type: {text: ' L', clearFirst: false}",
            &value("Ada L"),
        ],
        0,
        &[],
    );
    check(page, &["web_type: {text: Eve, timeoutMs: 0}"], 1, &["no field has the focus"]);
    check(
        page,
        &["web_click: {ref: 'button \"Pay\"'}", "web_type: {text: Eve, clearFirst: false, timeoutMs: 0}"],
        1,
        &["no field has the focus", "button \"Pay\""],
    );
    let inner = holds("document.querySelector('iframe').contentDocument.querySelector('input').value === 'new'");
    check(page, &["web_click: {ref: 'textbox \"Inner\"'}", "web_type: {text: new}", &inner], 0, &[]);
    // A field that goes away in the middle of a text.
    let going = "<input aria-label=Name oninput='if (this.value.length === 2) this.remove()'>";
    check(going, &["web_type: {ref: 'textbox \"Name\"', text: Grace, clearFirst: false}"], 1, &["3 of 5 keys"]);
}

#[test]
fn typing_waits_for_a_field_to_get_the_focus() {
    let page = "<button id=open onclick='setTimeout(() => { document.body.append(field); field.focus() }, 300)'>Search</button>\
                <script>const field = Object.assign(document.createElement('input'), {id: 'field'})</script>";
    for typing in ["web_type: {text: Ada}", "inputText: {text: Ada}"] {
        check(page, &["web_click: {ref: css=#open}", typing, &holds("field.value === 'Ada'")], 0, &[]);
    }
}

#[test]
fn a_part_of_an_editor_is_filled_by_itself() {
    let page = "<div id=host contenteditable><p id=one>First</p><p id=two>Second</p></div><input id=other value=kept>";
    check(
        page,
        &[
            "web_click: {ref: 'css=#other'}",
            "web_type: {ref: 'css=#two', text: Changed}",
            &holds("one.textContent === 'First' && two.textContent === 'Changed' && other.value === 'kept'"),
            "web_type: {ref: 'css=#host', text: ''}",
            &holds("host.textContent === ''"),
        ],
        0,
        &[],
    );
}

#[test]
fn a_text_that_a_field_does_not_take_is_an_error_unless_the_page_takes_it_over() {
    let number = "<input id=age type=number>";
    check(number, &["web_type: {ref: 'css=#age', text: old, timeoutMs: 100}"], 1, &["it does not accept this text"]);
    let page = "<input id=short maxlength=3><input id=own onbeforeinput='event.preventDefault(); this.value = event.data + 1'>";
    check(
        page,
        &[
            "web_type: {ref: 'css=#short', text: abcdef}",
            "web_type: {ref: 'css=#own', text: page}",
            &holds("short.value === 'abc' && own.value === 'page1'"),
        ],
        0,
        &[],
    );
}
