/** Forms from JSON Schema: which fields a tool has, and the arguments that the fields make. */
import type { YamlValue } from '../generated/messages.ts';

export type FieldKind = 'text' | 'number' | 'integer' | 'boolean' | 'choice' | 'value';

export interface Field {
  name: string;
  kind: FieldKind;
  help: string;
  isRequired: boolean;
  choices: string[];
  /** The default, as the field would show it; empty if there is none. */
  preset: string;
}

type Schema = Record<string, unknown>;
const isRecord = (value: unknown): value is Schema => typeof value === 'object' && value !== null && !Array.isArray(value);

/** The fields of a tool: required ones first, otherwise in the schema's order. */
export function fieldsOf(schema: Schema): Field[] {
  const properties = isRecord(schema['properties']) ? schema['properties'] : {};
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  const fields = Object.entries(properties).map(([name, inner]) => fieldOf(name, resolved(inner, schema), required.includes(name)));
  return [...fields.filter((field) => field.isRequired), ...fields.filter((field) => !field.isRequired)];
}

function fieldOf(name: string, schema: Schema, isRequired: boolean): Field {
  const preset = schema['default'];
  const help = typeof schema['description'] === 'string' ? schema['description'] : '';
  const choices = choicesOf(schema);
  return {
    name,
    help,
    isRequired,
    choices,
    kind: choices.length ? 'choice' : kindOf(schema),
    preset: preset === undefined || preset === null ? '' : typeof preset === 'string' ? preset : JSON.stringify(preset),
  };
}

/** Follows a reference within the schema, and takes the only alternative besides null. */
function resolved(inner: unknown, root: Schema, depth = 0): Schema {
  if (!isRecord(inner) || depth > 8) return {};
  const reference = inner['$ref'];
  if (typeof reference === 'string' && reference.startsWith('#/')) {
    const target = reference
      .slice(2)
      .split('/')
      .reduce<unknown>((at, part) => (isRecord(at) ? at[part] : undefined), root);
    return { ...resolved(target, root, depth + 1), ...inner, $ref: undefined };
  }
  for (const key of ['anyOf', 'oneOf', 'allOf']) {
    const options = inner[key];
    if (!Array.isArray(options)) continue;
    const real = options.filter((option) => !(isRecord(option) && option['type'] === 'null'));
    if (real.length === 1) return { ...resolved(real[0], root, depth + 1), ...inner, [key]: undefined };
  }
  return inner;
}

function choicesOf(schema: Schema): string[] {
  if (Array.isArray(schema['enum'])) return schema['enum'].filter((choice) => typeof choice === 'string');
  const options = schema['oneOf'] ?? schema['anyOf'];
  if (Array.isArray(options) && options.length && options.every((option) => isRecord(option) && typeof option['const'] === 'string')) {
    return options.map((option: Schema) => option['const'] as string);
  }
  return [];
}

function kindOf(schema: Schema): FieldKind {
  const type = Array.isArray(schema['type']) ? schema['type'].find((one) => one !== 'null') : schema['type'];
  if (type === 'string') return 'text';
  if (type === 'number' || type === 'integer' || type === 'boolean') return type;
  return 'value';
}

export interface Filled {
  args: Record<string, unknown>;
  /** What is wrong, by the name of the field. */
  problems: Record<string, string>;
}

/** Reads a text in YAML. */
export type ReadYaml = (text: string) => Promise<YamlValue>;

/** The arguments that the texts of the fields mean. Empty fields are left out. */
export async function argumentsOf(fields: Field[], texts: Record<string, string>, readYaml: ReadYaml): Promise<Filled> {
  const filled: Filled = { args: {}, problems: {} };
  for (const field of fields) {
    const text = texts[field.name] ?? '';
    if (text === '') {
      if (field.isRequired && field.preset === '') filled.problems[field.name] = 'is required';
      continue;
    }
    const read = await readField(field, text, readYaml);
    if (read.problem) filled.problems[field.name] = read.problem;
    else filled.args[field.name] = read.value;
  }
  return filled;
}

async function readField(field: Field, text: string, readYaml: ReadYaml): Promise<{ value?: unknown; problem?: string }> {
  // A value that is remembered can stand for anything.
  if (/^\{\{[^{}]*\}\}$/.test(text.trim())) return { value: text.trim() };
  switch (field.kind) {
    case 'text':
    case 'choice':
      return { value: text };
    case 'boolean':
      return { value: text === 'true' };
    case 'number':
    case 'integer': {
      const number = Number(text);
      if (text.trim() === '' || !Number.isFinite(number)) return { problem: 'must be a number' };
      return field.kind === 'integer' && !Number.isInteger(number) ? { problem: 'must be a whole number' } : { value: number };
    }
    case 'value':
      return readYaml(text);
  }
}
