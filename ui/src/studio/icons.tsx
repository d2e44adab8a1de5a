/** Small icons, drawn with strokes of the text's colour. */
import type { VNode } from 'preact';

const PATHS = {
  undo: 'M5 4 2 7l3 3M2 7h7a4 4 0 0 1 0 8H6',
  redo: 'm11 4 3 3-3 3m3-3H7a4 4 0 0 0 0 8h3',
  play: 'M5 3.5v9l7.5-4.5z',
  stop: 'M4.5 4.5h7v7h-7z',
  check: 'm3 8.5 3.5 3.5L13 4.5',
  join: 'M4 3v4a2 2 0 0 0 2 2h6M9.5 6 12.5 9l-3 3',
  trash: 'M3 4.5h10M6.5 4.5V3h3v1.5M4.5 4.5l.6 8.5h5.8l.6-8.5',
  back: 'M9.5 3.5 5 8l4.5 4.5',
  home: 'M2.5 7.5 8 3l5.5 4.5M4.5 6.5V13h7V6.5',
  reload: 'M13 8a5 5 0 1 1-1.5-3.6M13 2.5V5h-2.5',
  pointer: 'm4 3 3.5 9.5L9 9l3.5-1.5z',
  inspect: 'M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9m3.3-1.2L14 14',
  sun: 'M8 11a3 3 0 1 0 0-6 3 3 0 0 0 0 6m0-10v1.5m0 11V15M1 8h1.5m11 0H15M3 3l1 1m8 8 1 1m0-10-1 1m-8 8-1 1',
  close: 'm4 4 8 8m0-8-8 8',
  phone: 'M5 1.5h6v13H5zM7.2 12.5h1.6',
  browser: 'M1.5 3h13v10h-13zM1.5 6h13M3.5 4.5h.01M5.5 4.5h.01',
  desktop: 'M1.5 2.5h13v9h-13zM6 14h4M8 11.5V14',
  folder: 'M1.5 4v8.5h13V5.5H8L6.5 4z',
  right: 'm6 4 4 4-4 4',
} as const;

export function Icon({ name }: { name: keyof typeof PATHS }): VNode {
  return (
    <svg
      class="icon"
      viewBox="0 0 16 16"
      aria-hidden="true"
      fill="none"
      stroke="currentColor"
      stroke-width="1.4"
      stroke-linecap="round"
      stroke-linejoin="round"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}

/** The icon of a device, by its platform. */
export function PlatformIcon({ platform }: { platform: string }): VNode {
  return <Icon name={platform === 'web' ? 'browser' : platform === 'desktop' ? 'desktop' : 'phone'} />;
}
