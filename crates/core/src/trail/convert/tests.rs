//! Tests of converting older files, with examples and random files.

use proptest::prelude::*;

use super::*;

fn check(before: &str, expected: &str) {
    match convert(&Source::new("a.trail.yaml", before)) {
        Ok(after) => assert_eq!(after, expected),
        Err(error) => panic!("{error}: {error:?}\n{before}"),
    }
}

#[test]
fn a_list_with_a_platform_becomes_recordings_of_that_platform() {
    check(
        "\
# Pays.
- config: # what it is
    id: pay # stays
    platform: android
    driver: ANDROID_HOST # for now
    source:
      type: HANDWRITTEN
      reason: 'why not' # said Ada
    skip: 'broken: see 12'

    tags: [a, \"b\"]
- trailhead:
    tools:
      - launch: {app: x}
# The way there.
- prompts:
    # first
    - step: 'Tap \"Pay\"' # now
      recording:
        # recorded in June
        tools:
          - tap: # by id
              id: pay # stable
          - unknownTool: {a: [1, '2'], b: }
    - verify: |
        It is paid
        twice

      recordable: false
- tools:
    - back: {}
    - wait: {ms: 5}
# end
",
        "\
# Pays.
config: # what it is
  id: pay # stays
  devices:
    android: ANDROID_HOST # for now
  metadata:
    source: HANDWRITTEN
    sourceReason: why not # said Ada
  skip:
    android: 'broken: see 12'

  tags: [a, \"b\"]
trailhead:
  step: launch
  tools:
    - launch: {app: x}
# The way there.
trail:
  # first
  - step: 'Tap \"Pay\"' # now
    recording:
      # recorded in June
      android:
        - tap: # by id
            id: pay # stable
        - unknownTool: {a: [1, '2'], b: }
  - verify: |
      It is paid
      twice

    recordable: false
  - step: 'back, wait'
    tools:
      - back: {}
      - wait: {ms: 5}
# end
",
    );
}

#[test]
fn a_list_without_a_platform_becomes_tools_for_every_device() {
    check(
        "\u{feff}- prompts:\r\n  - {step: a, recording: {tools: [{tap: {x: &x 'y'}}, {tap: {x: *x}}]}}\r\n  - step: b\r\n",
        "\u{feff}trail:\r\n  - step: a\r\n    tools:\r\n      - tap:\r\n          x: 'y'\r\n      - tap:\r\n          x: 'y'\r\n  - step: b\r\n",
    );
    check("- prompts: [{step: a, recording: {tools: []}}]", "trail:\n  - step: a\n    tools: []\n");
    check(
        "- trailhead: launch # it\n- tools: [{back: {}}]",
        "trailhead: launch # it\ntrail:\n  - step: back\n    tools: [{back: {}}]\n",
    );
}

#[test]
fn what_is_not_a_list_is_not_converted() {
    let unified = convert(&Source::new("a.trail.yaml", "trail: [{step: a}]\n"));
    assert_eq!(unified.map_err(|error| error.to_string()), Err("a.trail.yaml is already in the unified form".into()));
    let broken = convert(&Source::new("a.trail.yaml", "- prompts: [{step: a, recording: {}}]\n- steps: []\n"));
    let Err(ConvertError::Unreadable { problems, .. }) = broken else { panic!("{broken:?}") };
    let found: Vec<String> = problems.iter().map(ToString::to_string).collect();
    assert_eq!(
        found,
        [
            "a.trail.yaml:1:34: `tools` is missing",
            "a.trail.yaml:2:3: unknown item `steps` (expected one of: config, trailhead, prompts, tools)",
        ]
    );
}

/// Parts of older files, to combine in any order that the form allows. `%` is where a comment may be.
const CONFIGS: &[&str] = &[
    "",
    "- config: {id: 'a', platform: ios}%\n",
    "- config:%\n    platform: ANDROID%\n%\n",
    "-   config:\n      %\n      driver: 'IOS_HOST'%\n\n      metadata: {%\n        a: 1,\n        source: x }\n      source: {reason: r%\n        }\n",
    "- config:\n    driver: sim%\n    description: >\n      long\n      text\n\n    %\n    skip: \"\"\n    memory: {n: 5, t: '5'}%\n    args: {who: string, n: {type: integer, default: 3}}\n",
];
const HEADS: &[&str] = &[
    "",
    "- trailhead: launch%\n",
    "-\n  trailhead:%\n    step: \"go\n      there\"%\n    maxRetries: 2\n",
    "- trailhead:\n    tools:%\n    - launch: {}%\n    # deep\n    - wait: {}\n",
];
const STEPS: &[&str] = &[
    "- tools:%\n    - a: {x: !!str 5}%\n    - b:\n        list: [1,%\n          {k: 'v'}]\n",
    "- prompts:%\n    -%\n      step: 'it''s'%\n      recording:%\n        %\n        tools:%\n        - tap: %\n            text: |+\n              x\n\n\n    - verify: plain\n        and more%\n      recordable: false%\n",
    "- prompts:\n  - {step: a,%\n     recording: {tools: [ {tap: {text: \"a # b\"}},%\n     ]}}%\n",
    "- prompts:\n    - step: |-%\n        one\n          two\n\n        three # text\n      maxRetries: 1\n\n%\n    - step: &t seven\n      recording: {tools: []}%\n    - verify: *t\n      recording:\n        tools:\n          - x: {a: *t, b: [[], [c, [d]], {}]}\n            %\n",
];

proptest! {
    #[test]
    fn a_converted_trail_has_the_same_content_and_comments(
        config in prop::sample::select(CONFIGS),
        head in prop::sample::select(HEADS),
        steps in prop::collection::vec(prop::sample::select(STEPS), 1..4),
        comments in prop::collection::vec(prop::sample::select(&["", " # why", "\t#: [ünï", " #"][..]), 40),
        has_windows_ends in any::<bool>(),
    ) {
        // An anchor may be redefined; the later one applies from there on.
        let parts = format!("{config}{head}{}", steps.concat());
        let mut comments = comments.into_iter().cycle();
        let text: String = parts.split_inclusive('%').map(|part| match part.strip_suffix('%') {
            Some(part) => format!("{part}{}", comments.next().unwrap_or_default()),
            None => part.to_string(),
        }).collect();
        let text = if has_windows_ends { text.replace('\n', "\r\n") } else { text };
        let converted = convert(&Source::new("a.trail.yaml", text.as_str()));
        prop_assert!(converted.is_ok(), "{converted:?}\n{text}");
    }
}
