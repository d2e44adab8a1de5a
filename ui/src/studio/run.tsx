import type { VNode } from 'preact';

export function RunPage({ id }: { id: string }): VNode {
  return <main class="center"><p>{id}</p></main>;
}
