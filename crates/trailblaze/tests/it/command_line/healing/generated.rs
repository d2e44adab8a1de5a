//! A generated corpus: what apps say in several languages, and how they change. Each decoy leads where the recorded element
//! led, so that only what it says tells that it is another one.

use serde_json::{Value, json};

use super::corpus::{Case, On, check};
use crate::support::{chromium, is_full_tier};

/// What an app says. `{}` is an amount or a person.
struct Language {
    code: &'static str,
    title: &'static str,
    note: &'static str,
    help: &'static str,
    follow: &'static str,
    unfollow: &'static str,
    lock: &'static str,
    unlock: &'static str,
    save: &'static str,
    dont_save: &'static str,
    delete: &'static str,
    pay: &'static str,
    ok: &'static str,
    save_question: &'static str,
    delete_question: &'static str,
    send_question: &'static str,
}

const LANGUAGES: [Language; 8] = [
    Language {
        code: "en",
        title: "Your account",
        note: "Choose what to do",
        help: "Help",
        follow: "Follow",
        unfollow: "Unfollow",
        lock: "Lock",
        unlock: "Unlock",
        save: "Save",
        dont_save: "Don't save",
        delete: "Delete",
        pay: "Pay {}",
        ok: "OK",
        save_question: "Save your changes?",
        delete_question: "Delete your account?",
        send_question: "Send {} to Bob?",
    },
    Language {
        code: "de",
        title: "Ihr Konto",
        note: "Wählen Sie aus",
        help: "Hilfe",
        follow: "Folgen",
        unfollow: "Nicht mehr folgen",
        lock: "Sperren",
        unlock: "Entsperren",
        save: "Speichern",
        dont_save: "Nicht speichern",
        delete: "Löschen",
        pay: "{} zahlen",
        ok: "OK",
        save_question: "Änderungen speichern?",
        delete_question: "Konto löschen?",
        send_question: "{} an Bob senden?",
    },
    Language {
        code: "fr",
        title: "Votre compte",
        note: "Que voulez-vous faire ?",
        help: "Aide",
        follow: "Suivre",
        unfollow: "Ne plus suivre",
        lock: "Verrouiller",
        unlock: "Déverrouiller",
        save: "Enregistrer",
        dont_save: "Ne pas enregistrer",
        delete: "Supprimer",
        pay: "Payer {}",
        ok: "D'accord",
        save_question: "Enregistrer les modifications ?",
        delete_question: "Supprimer le compte ?",
        send_question: "Envoyer {} à Bob ?",
    },
    Language {
        code: "es",
        title: "Tu cuenta",
        note: "Elige una opción",
        help: "Ayuda",
        follow: "Seguir",
        unfollow: "Dejar de seguir",
        lock: "Bloquear",
        unlock: "Desbloquear",
        save: "Guardar",
        dont_save: "No guardar",
        delete: "Eliminar",
        pay: "Pagar {}",
        ok: "Aceptar",
        save_question: "¿Guardar los cambios?",
        delete_question: "¿Eliminar la cuenta?",
        send_question: "¿Enviar {} a Bob?",
    },
    Language {
        code: "ja",
        title: "アカウント",
        note: "選択してください",
        help: "ヘルプ",
        follow: "フォローする",
        unfollow: "フォローをやめる",
        lock: "ロックする",
        unlock: "ロックを解除",
        save: "保存する",
        dont_save: "保存しない",
        delete: "削除する",
        pay: "{}を支払う",
        ok: "はい",
        save_question: "変更を保存しますか？",
        delete_question: "アカウントを削除しますか？",
        send_question: "Bobに{}を送りますか？",
    },
    Language {
        code: "zh",
        title: "你的账户",
        note: "请选择",
        help: "帮助",
        follow: "关注",
        unfollow: "取消关注",
        lock: "锁定",
        unlock: "解锁",
        save: "保存",
        dont_save: "不保存",
        delete: "删除",
        pay: "支付{}",
        ok: "好",
        save_question: "保存更改吗？",
        delete_question: "删除账户吗？",
        send_question: "向Bob发送{}吗？",
    },
    Language {
        code: "ru",
        title: "Ваш аккаунт",
        note: "Выберите действие",
        help: "Справка",
        follow: "Подписаться",
        unfollow: "Отписаться",
        lock: "Заблокировать",
        unlock: "Разблокировать",
        save: "Сохранить",
        dont_save: "Не сохранять",
        delete: "Удалить",
        pay: "Заплатить {}",
        ok: "Да",
        save_question: "Сохранить изменения?",
        delete_question: "Удалить аккаунт?",
        send_question: "Отправить {} Bob?",
    },
    Language {
        code: "ar",
        title: "حسابك",
        note: "اختر ما تريد",
        help: "مساعدة",
        follow: "متابعة",
        unfollow: "إلغاء المتابعة",
        lock: "قفل",
        unlock: "فتح القفل",
        save: "حفظ",
        dont_save: "عدم الحفظ",
        delete: "حذف",
        pay: "ادفع {}",
        ok: "موافق",
        save_question: "هل تريد حفظ التغييرات؟",
        delete_question: "هل تريد حذف حسابك؟",
        send_question: "هل تريد إرسال {} إلى Bob؟",
    },
];

/// One change: what the screen was like, what the recorded call acts on, and what is replaced.
struct Change<'a> {
    kind: &'static str,
    screen: &'a str,
    facts: Value,
    replaced: Vec<(String, String)>,
}

impl Language {
    fn pay(&self, what: &str) -> String {
        self.pay.replace("{}", what)
    }

    /// A person who can be followed, and a form.
    fn profile(&self) -> String {
        format!(
            "heading \"{}\"\ntext \"{} 10:45\"\ncard #ada\n  text \"Ada Lovelace\"\n  button #follow \"{}\" -> done\n  \
             button #lock \"{}\" -> done\ncard #form\n  text \"{}\"\n  button #save \"{}\" -> done\n  button #delete \"{}\" -> done\n\
             link #help \"{}\" -> help\n",
            self.title, self.help, self.follow, self.lock, self.note, self.save, self.delete, self.help
        )
    }

    /// Two people, of whom one is followed.
    fn people(&self) -> String {
        format!(
            "heading \"{0}\"\ncard #bob\n  text \"Bob Miller\"\n  button #follow-bob \"{1}\" -> done\n  button #lock-bob \"{2}\" -> done\n\
             card #grace\n  text \"Grace Hopper\"\n  button #follow-grace \"{3}\" -> done\n  button #lock-grace \"{2}\" -> done\n",
            self.title, self.follow, self.lock, self.unfollow
        )
    }

    fn payment(&self, what: &str) -> String {
        format!(
            "heading \"{}\"\ncard #payment\n  text \"{}\"\n  button #pay \"{}\" -> done\n  button #later \"{}\" -> done\n\
             link #help \"{}\" -> help\n",
            self.title,
            self.note,
            self.pay(what),
            self.save,
            self.help
        )
    }

    fn question(&self, text: &str) -> String {
        format!(
            "heading \"{}\"\ncard #question\n  text \"{text}\"\n  button #yes \"{}\" -> done\n  button #no \"{}\" -> done\n",
            self.title, self.ok, self.help
        )
    }

    /// The same without a container.
    fn flat_question(&self, text: &str) -> String {
        format!("text \"{text}\"\nbutton #button1 \"{}\" -> done\nbutton #button2 \"{}\" -> done\n", self.ok, self.help)
    }
}

fn by_id(name: &str, id: &str) -> Value {
    json!({"by": "id", "name": name, "id": id})
}

fn by_text(name: &str) -> Value {
    json!({"by": "text", "name": name})
}

fn by_role(name: &str) -> Value {
    json!({"by": "role", "role": "button", "name": name})
}

fn by_container(name: &str, container: &str) -> Value {
    json!({"by": "container", "in": container, "name": name})
}

fn cases_of(language: &Language) -> Vec<Case> {
    let (profile, people, payment) = (language.profile(), language.people(), language.payment("$10.00"));
    let (question, flat) = (language.question(language.save_question), language.flat_question(language.save_question));
    let sending = language.question(&language.send_question.replace("{}", "$10"));
    let for_alice = language.payment("Alice");
    let pay = language.pay("$10.00");
    let change = |kind, screen, facts, replaced: &[(&str, &str)]| Change {
        kind,
        screen,
        facts,
        replaced: replaced.iter().map(|(old, new)| (old.to_string(), new.to_string())).collect(),
    };
    let named = |name: &str| format!("\"{name}\"");
    let becomes = |old: &str, new: &str| (named(old), named(new));
    let renamed = |kind, screen, facts, old: &str, new: &str| {
        let (old, new) = becomes(old, new);
        change(kind, screen, facts, &[(old.as_str(), new.as_str())])
    };
    let pay_line = format!("  button #pay \"{pay}\" -> done\n");
    let later_line = format!("  button #later \"{}\" -> done\n", language.save);
    let bob = format!(
        "card #bob\n  text \"Bob Miller\"\n  button #follow-bob \"{}\" -> done\n  button #lock-bob \"{}\" -> done\n",
        language.follow, language.lock
    );
    let (save, delete, lock) = (named(language.save), named(language.delete), named(language.lock));
    let honest = vec![
        change("id-extended", &payment, by_id(&pay, "pay"), &[("#pay ", "#payButton ")]),
        change("id-replaced", &payment, by_id(&pay, "pay"), &[("#pay ", "#checkout_submit ")]),
        change("id-removed", &payment, by_id(&pay, "pay"), &[("button #pay ", "button ")]),
        change("role", &payment, by_role(&pay), &[("button #pay ", "link #pay ")]),
        renamed("punctuation", &profile, by_text(language.save), language.save, &format!("{}…", language.save)),
        renamed("decoration", &people, by_text(language.follow), language.follow, &format!("• {}!", language.follow)),
        change("container", &payment, by_container(&pay, "payment"), &[("card #payment", "card #checkout")]),
        change(
            "order",
            &payment,
            by_id(&pay, "pay"),
            &[(&pay_line, ""), (&later_line, &format!("{later_line}{}", pay_line.replace("#pay ", "#buy ")))],
        ),
        change(
            "order-of-cards",
            &people,
            by_id(language.follow, "follow-bob"),
            &[
                (&bob, ""),
                (
                    &format!("  button #lock-grace {lock} -> done\n"),
                    &format!("  button #lock-grace {lock} -> done\n{}", bob.replace("#follow-bob", "#subscribe")),
                ),
            ],
        ),
        change(
            "more-around",
            &payment,
            by_id(&pay, "pay"),
            &[("#pay ", "#purchase "), ("link #help", "link #news \"News 2027\" -> other\nlink #help")],
        ),
        change("row", &people, by_id(language.lock, "lock-bob"), &[("#lock-bob", "#b1"), ("#lock-grace", "#b2")]),
        change(
            "swapped-ids",
            &profile,
            by_id(language.save, "save"),
            &[
                (&format!("#save {save}"), &format!("#delete {save}")),
                (&format!("#delete {delete}"), &format!("#save {delete}")),
            ],
        ),
        change(
            "moved-out",
            &payment,
            by_container(&pay, "payment"),
            &[(&pay_line, ""), ("link #help", &format!("{}link #help", pay_line.trim_start()))],
        ),
        change("clock", &profile, by_id(language.follow, "follow"), &[("10:45", "11:02"), ("#follow ", "#f ")]),
        change("answer", &question, by_id(language.ok, "yes"), &[("#yes ", "#positive ")]),
    ];
    let decoys = vec![
        renamed("opposite", &profile, by_text(language.follow), language.follow, language.unfollow),
        renamed("prefix", &profile, by_text(language.lock), language.lock, language.unlock),
        renamed("negation", &profile, by_text(language.save), language.save, language.dont_save),
        renamed("amount", &payment, by_text(&pay), &pay, &language.pay("$1000.00")),
        renamed("decimal", &payment, by_text(&pay), &pay, &language.pay("$1000")),
        renamed("currency", &payment, by_text(&pay), &pay, &language.pay("€10.00")),
        renamed("person", &for_alice, by_text(&language.pay("Alice")), &language.pay("Alice"), &language.pay("Alicia")),
        change(
            "other-word",
            &profile,
            by_text(language.save),
            &[(&format!("  button #delete {delete} -> done\n"), ""), (&save, &named(language.delete))],
        ),
        change(
            "other-question",
            &question,
            by_id(language.ok, "yes"),
            &[(language.save_question, language.delete_question), ("#yes ", "#confirm ")],
        ),
        change(
            "other-question-flat",
            &flat,
            by_role(language.ok),
            &[(language.save_question, language.delete_question), ("button #button1", "link #button1")],
        ),
        change(
            "other-amount-in-question",
            &sending,
            by_id(language.ok, "yes"),
            &[("$10", "$1000"), ("#yes ", "#confirm ")],
        ),
        change(
            "longer-question",
            &question,
            by_role(language.ok),
            &[
                ("button #no", &format!("text \"{}\"\n  button #no", language.delete_question)),
                ("button #yes", "link #yes"),
            ],
        ),
        change(
            "other-card",
            &people,
            by_id(language.follow, "follow-bob"),
            &[
                ("Bob Miller", "Mallory"),
                ("#bob", "#mallory"),
                ("#follow-bob", "#follow-mallory"),
                ("#lock-bob", "#lock-mallory"),
            ],
        ),
        change(
            "swapped-rows",
            &people,
            by_id(language.follow, "follow-bob"),
            &[
                (&format!("#follow-bob \"{}\"", language.follow), &format!("#b1 \"{}\"", language.unfollow)),
                (&format!("#follow-grace \"{}\"", language.unfollow), &format!("#b2 \"{}\"", language.follow)),
            ],
        ),
        change(
            "opposite-and-id",
            &profile,
            by_id(language.follow, "follow"),
            &[("#follow ", "#unfollow "), (&named(language.follow), &named(language.unfollow))],
        ),
        change(
            "twin",
            &payment,
            by_id(&pay, "pay"),
            &[("#pay ", "#pay1 "), ("link #help", &format!("button #pay2 \"{pay}\" -> done\nlink #help"))],
        ),
    ];
    let case = |is_honest: bool, change: &Change<'_>| {
        let after = change.replaced.iter().fold(change.screen.to_string(), |screen, (old, new)| {
            assert!(screen.contains(old.as_str()), "{} {}: no {old:?} in {screen}", language.code, change.kind);
            screen.replacen(old.as_str(), new.as_str(), 1)
        });
        Case {
            is_honest,
            name: format!("{}-{}-{}", if is_honest { "honest" } else { "decoy" }, change.kind, language.code),
            before: change.screen.to_string(),
            after,
            facts: change.facts.clone(),
        }
    };
    honest.iter().map(|change| case(true, change)).chain(decoys.iter().map(|change| case(false, change))).collect()
}

/// All cases; in CI, each kind in one of the languages.
fn cases() -> Vec<Case> {
    let all = LANGUAGES.iter().map(cases_of);
    let is_taken = |language: usize, kind: usize| is_full_tier() || kind % LANGUAGES.len() == language;
    let of_language = |(language, cases): (usize, Vec<Case>)| {
        cases.into_iter().enumerate().filter(move |(kind, _)| is_taken(language, *kind)).map(|(_, case)| case)
    };
    all.enumerate().flat_map(of_language).collect()
}

#[test]
fn what_an_element_says_decides_in_every_language_on_a_simulated_phone() {
    let all: Vec<Case> = LANGUAGES.iter().flat_map(cases_of).collect();
    let n_decoys = all.iter().filter(|case| !case.is_honest).count();
    assert!(all.len() >= 200 && n_decoys * 2 >= all.len(), "{} cases, {n_decoys} decoys", all.len());
    check(On::Sim, &cases(), 0.2);
}

#[test]
fn what_an_element_says_decides_in_every_language_in_chromium() {
    if chromium::find().is_none() || !is_full_tier() {
        return;
    }
    check(On::Chromium, &cases(), 0.2);
}
