/** The tools of a session, with forms from their schemas. */
import type { VNode } from 'preact';
import { useEffect, useId, useState } from 'preact/hooks';
import type { PaletteTool } from '../../generated/messages.ts';
import { Data, Said } from '../../shared/text.tsx';
import { cut } from '../../shared/words.ts';
import { api, ask } from '../app.ts';
import { argumentsOf, fieldsOf, type Field, type ReadYaml } from '../schema.ts';
import { call, type Session } from './state.ts';

export function Tools({ of }: { of: Session }): VNode {
  const [tools, setTools] = useState<PaletteTool[] | undefined>(undefined);
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState('');
  useEffect(() => {
    void ask(api.listPalette({ session: of.name })).then((palette) => setTools(palette?.tools ?? []));
  }, []);
  if (!tools) return <p class="empty">Loading…</p>;
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = (tool: PaletteTool) => words.every((word) => `${tool.name} ${tool.description} ${tool.group}`.toLowerCase().includes(word));
  // The team's own tools first: those are why people come here.
  const shown = tools
    .filter(fits)
    .sort((a, b) => Number(b.isCustom) - Number(a.isCustom) || a.group.localeCompare(b.group) || a.name.localeCompare(b.name));
  const groups = new Map<string, PaletteTool[]>();
  // Each tool in YAML has a file of its own, which would be a heading for one tool.
  const groupOf = (tool: PaletteTool) => (tool.isCustom && tool.group.includes('/') ? 'tools of the project' : tool.group);
  for (const tool of shown) groups.set(groupOf(tool), [...(groups.get(groupOf(tool)) ?? []), tool]);
  return (
    <div class="tools-pane">
      <div class="search">
        <input
          type="search"
          value={text}
          placeholder={`Search ${tools.length} tools`}
          aria-label="Search tools"
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </div>
      {!shown.length && <p class="empty">No tool matches.</p>}
      {[...groups].map(([group, members]) => (
        <section key={group} aria-label={group}>
          <h2 class="label group">
            {group || 'tools'}
            {members[0]!.isCustom && <span class="tag custom">yours</span>}
          </h2>
          <ul>
            {members.map((tool) => (
              <li key={tool.name} class="tool-item">
                <button
                  type="button"
                  class="tool-name"
                  aria-expanded={chosen === tool.name}
                  onClick={() => setChosen(chosen === tool.name ? '' : tool.name)}
                >
                  <b class="mono">{tool.name}</b> <Data text={cut(tool.description.split('\n')[0]!, 120)} cls="faint" />
                </button>
                {chosen === tool.name && <ToolForm of={of} tool={tool} />}
              </li>
            ))}
          </ul>
        </section>
      ))}
    </div>
  );
}

const readYaml: ReadYaml = async (text) => (await ask(api.readYaml({ text }))) ?? { value: null, problem: 'was not read' };

function ToolForm({ of, tool }: { of: Session; tool: PaletteTool }): VNode {
  const fields = fieldsOf(tool.schema);
  const [texts, setTexts] = useState<Record<string, string>>({});
  const [problems, setProblems] = useState<Record<string, string>>({});
  const [isCalling, setCalling] = useState(false);
  const submit = async () => {
    setCalling(true);
    const filled = await argumentsOf(fields, texts, readYaml);
    setProblems(filled.problems);
    if (!Object.keys(filled.problems).length) await call(of, tool.name, filled.args);
    setCalling(false);
  };
  return (
    <form
      class="tool-form"
      aria-label={tool.name}
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      {tool.isCustom && tool.group.includes('/') && (
        <p class="help mono">
          <Data text={tool.group} />
        </p>
      )}
      {tool.description.includes('\n') && (
        <p class="block">
          <Said text={tool.description} />
        </p>
      )}
      {fields.map((field) => (
        <Input
          key={field.name}
          field={field}
          text={texts[field.name] ?? ''}
          problem={problems[field.name]}
          onText={(value) => {
            setTexts({ ...texts, [field.name]: value });
            const { [field.name]: _, ...others } = problems;
            setProblems(others);
          }}
        />
      ))}
      {!fields.length && <p class="faint">It has no arguments.</p>}
      <div class="bar-row">
        <span class="grow" />
        <button type="submit" class="button primary" disabled={isCalling}>
          {isCalling ? 'Calling…' : 'Call'}
        </button>
      </div>
    </form>
  );
}

function Input({
  field,
  text,
  problem,
  onText,
}: {
  field: Field;
  text: string;
  problem: string | undefined;
  onText: (text: string) => void;
}): VNode {
  const id = useId();
  const props = { id, 'aria-describedby': `${id}-help`, 'aria-invalid': problem !== undefined, 'aria-required': field.isRequired };
  const onInput = (event: { currentTarget: { value: string } }) => onText(event.currentTarget.value);
  const kinds: Record<Field['kind'], () => VNode> = {
    text: () => <input type="text" {...props} value={text} placeholder={field.preset} onInput={onInput} />,
    number: () => <input type="text" inputMode="decimal" {...props} value={text} placeholder={field.preset} onInput={onInput} />,
    integer: () => <input type="text" inputMode="numeric" {...props} value={text} placeholder={field.preset} onInput={onInput} />,
    boolean: () => (
      <select {...props} value={text} onChange={onInput}>
        <option value="">{field.preset ? `default (${field.preset})` : '–'}</option>
        <option value="true">true</option>
        <option value="false">false</option>
      </select>
    ),
    choice: () => (
      <select {...props} value={text} onChange={onInput}>
        <option value="">{field.preset ? `default (${field.preset})` : '–'}</option>
        {field.choices.map((choice) => (
          <option key={choice} value={choice}>
            {choice}
          </option>
        ))}
      </select>
    ),
    value: () => (
      <textarea
        class="mono"
        rows={2}
        {...props}
        value={text}
        placeholder={field.preset || '{…} or […]'}
        spellcheck={false}
        onInput={onInput}
      />
    ),
  };
  return (
    <div class="field">
      <label for={id}>
        {field.name}
        {field.isRequired && (
          <span class="required" title="required">
            {' '}
            *
          </span>
        )}
      </label>
      {kinds[field.kind]()}
      <p id={`${id}-help`} class={problem ? 'problem' : 'help'}>
        {problem ?? <Said text={cut(field.help, 300)} />}
      </p>
    </div>
  );
}
