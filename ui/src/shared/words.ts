/** Texts and numbers for people. */

/** Replaces control characters by their symbols and direction overrides by their names: they are shown and have no effect. */
export function visible(text: unknown): string {
  return String(text)
    .replace(/[\u0000-\u0008\u000b-\u001f]/g, (c) => String.fromCharCode(0x2400 + c.charCodeAt(0)))
    .replace(/[\u202d\u202e]/g, (c) => `[U+${c.charCodeAt(0).toString(16).toUpperCase()}]`);
}

export function cut(text: string, most: number): string {
  return text.length > most ? text.slice(0, most).replace(/[\ud800-\udbff]$/, '') + '…' : text;
}

export const count = (n: number): string => n.toLocaleString('en-US');
export const plural = (n: number, one: string, many = `${one}s`): string => `${count(n)} ${n === 1 ? one : many}`;

export function time(micros: number): string {
  const ms = micros / 1000;
  if (ms < 1) return '<1 ms';
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const s = ms / 1000;
  if (s < 59.95) return `${s.toFixed(1)} s`;
  const whole = Math.round(s);
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${String(whole % 60).padStart(2, '0')} s`;
  return `${Math.floor(whole / 3600)} h ${String(Math.floor((whole % 3600) / 60)).padStart(2, '0')} min`;
}

/** Where a file of a run folder is, relative to it. */
export const pathOf = (file: string): string => file.split('/').map(encodeURIComponent).join('/');
