/** What the device said: the console, and requests. */
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { CopyButton } from '../../shared/copy.tsx';
import { Long, Tag } from '../../shared/text.tsx';
import { count, cut, time, visible } from '../../shared/words.ts';
import type { Activity } from '../../generated/data.ts';
import { Pairs, type Entry as Pair } from '../calls.tsx';
import { useTrace } from './context.ts';
import type { HarBody, HarPair } from './data.ts';
import { harOf } from './model.ts';

/** Chooses between what the chosen entry caused and everything. */
function Scope({ what }: { what: string }): VNode {
  const { control, state } = useTrace();
  const button = (isEverything: boolean, text: string) => (
    <button type="button" aria-pressed={state.isEverything === isEverything} onClick={() => control.set({ isEverything })}>
      {text}
    </button>
  );
  return (
    <div class="choices" role="group" aria-label={`Which ${what}`}>
      {button(false, 'Of what is chosen')}
      {button(true, 'All')}
    </div>
  );
}

const NAMES: Partial<Record<Activity['kind'], string>> = {
  exception: 'not caught',
  dialog: 'dialog',
  download: 'download',
  navigation: 'page',
  crash: 'crash',
};

export function ConsoleTab({ said }: { said: Activity[] }): VNode {
  const { control } = useTrace();
  const [onlyBad, setOnlyBad] = useState(false);
  const lines = said.filter((one) => !one.exchange && (!onlyBad || one.isTrouble || one.level === 'error' || one.level === 'warning'));
  return (
    <>
      <div class="tab-tools">
        <Scope what="lines" />
        <label>
          <input type="checkbox" checked={onlyBad} onChange={(event) => setOnlyBad(event.currentTarget.checked)} /> Only errors and warnings
        </label>
      </div>
      {!lines.length && <p class="tab-empty">Nothing was written.</p>}
      <ul class="console">
        {lines.map((one, nth) => (
          <li key={nth} class={one.isTrouble ? 'error' : one.level}>
            <button class="when" type="button" title="Show what was on the screen" onClick={() => control.moveTo(one.at)}>
              {time(one.at - control.model.from)}
            </button>
            <span class="level-of">{one.level}</span>
            <div class="what">
              {NAMES[one.kind] && <Tag text={NAMES[one.kind]!} />} <Long text={one.text} isExact most={500} />
            </div>
          </li>
        ))}
      </ul>
    </>
  );
}

export function NetworkTab({ said }: { said: Activity[] }): VNode {
  const { control } = useTrace();
  const [text, setText] = useState('');
  const [onlyBad, setOnlyBad] = useState(false);
  const [opened, setOpened] = useState<Activity | null>(null);
  const wanted = text.toLowerCase();
  const requests = said.filter(
    (one) =>
      one.exchange &&
      (!onlyBad || one.isTrouble) &&
      `${one.exchange.method} ${one.exchange.url} ${one.exchange.status ?? ''} ${one.exchange.kind}`.toLowerCase().includes(wanted),
  );
  const { from, to } = control.model;
  const first = Math.min(...requests.map((one) => one.at), to);
  const last = Math.max(...requests.map((one) => one.at + (one.exchange!.micros ?? 0)), first + 1);
  return (
    <>
      <div class="tab-tools">
        <Scope what="requests" />
        <input
          type="search"
          placeholder="Filter by address, method, status"
          aria-label="Filter requests"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <label>
          <input type="checkbox" checked={onlyBad} onChange={(event) => setOnlyBad(event.currentTarget.checked)} /> Only failed
        </label>
      </div>
      {!requests.length && <p class="tab-empty">No request was made.</p>}
      {requests.length > 0 && (
        <table class="requests">
          <thead>
            <tr>
              <th>Method</th>
              <th>Address</th>
              <th>Status</th>
              <th>Kind</th>
              <th>Time</th>
              <th class="waterfall">{`From ${time(first - from)}`}</th>
            </tr>
          </thead>
          <tbody>
            {requests.map((one, nth) => {
              const exchange = one.exchange!;
              const isOpen = opened === one;
              return [
                <tr
                  key={nth}
                  class={(one.isTrouble ? 'bad' : '') + (isOpen ? ' is-open' : '')}
                  onClick={() => setOpened(isOpen ? null : one)}
                >
                  <td>{visible(cut(exchange.method, 20))}</td>
                  <td class="address">
                    <button
                      class="link mono"
                      type="button"
                      aria-expanded={isOpen}
                      title={visible(cut(exchange.url, 500))}
                      onClick={(event) => {
                        event.stopPropagation();
                        setOpened(isOpen ? null : one);
                      }}
                    >
                      {visible(cut(shortAddress(exchange.url), 120))}
                    </button>
                  </td>
                  <td>{exchange.status ?? (exchange.failure ? 'failed' : '')}</td>
                  <td>{visible(cut(exchange.kind, 20))}</td>
                  <td>{exchange.micros === null ? '' : time(exchange.micros)}</td>
                  <td class="waterfall" aria-hidden="true">
                    <span
                      style={{
                        left: `${((one.at - first) / (last - first)) * 100}%`,
                        width: `${((exchange.micros ?? 0) / (last - first)) * 100}%`,
                      }}
                    />
                  </td>
                </tr>,
                isOpen && (
                  <tr key={`${nth} open`} class="request-details">
                    <td colSpan={6}>
                      <Request activity={one} />
                    </td>
                  </tr>
                ),
              ];
            })}
          </tbody>
        </table>
      )}
    </>
  );
}

/** The last part of an address, which tells requests of one page apart. */
export function shortAddress(address: string): string {
  try {
    const { host, pathname, search } = new URL(address);
    const end = pathname.split('/').filter(Boolean).slice(-2).join('/');
    return `${end ? `…/${end}` : host || address}${search}`.replace(/^…\/(?=[^/]*$)/, '/');
  } catch {
    return address;
  }
}

function Request({ activity }: { activity: Activity }): VNode {
  const { control } = useTrace();
  const exchange = activity.exchange!;
  const har = harOf(control.model, activity);
  const facts: Pair[] = [
    ['address', <Long text={exchange.url} isExact />],
    ['method', visible(exchange.method)],
    ['status', exchange.status === null ? 'no response' : `${exchange.status} ${visible(har?.response?.statusText ?? '')}`],
    ['began', time(activity.at - control.model.from), 'plain'],
  ];
  if (exchange.micros !== null) facts.push(['took', time(exchange.micros), 'plain']);
  if (exchange.failure) facts.push(['failure', <Long text={exchange.failure} />, 'plain']);
  if (har?._rule) facts.push(['by the trail', visible(har._rule), 'plain']);
  const timings = Object.entries(har?.timings ?? {}).filter(([, ms]) => ms >= 0);
  if (timings.length) facts.push(['timing', timings.map(([name, ms]) => `${name} ${count(Math.round(ms))} ms`).join(', '), 'plain']);
  return (
    <div class="request">
      <p>
        <CopyButton text={exchange.url} what="the address" />{' '}
        <button class="link" type="button" onClick={() => control.moveTo(activity.at)}>
          show what was on the screen
        </button>
      </p>
      <Pairs entries={facts} />
      <Headers title="Request headers" pairs={har?.request?.headers} />
      <Body title="Request body" body={har?.request?.postData} />
      <Headers title="Response headers" pairs={har?.response?.headers} />
      <Body title="Response body" body={har?.response?.content} />
      {!har && <p class="faint">Headers and bodies were not kept.</p>}
    </div>
  );
}

function Headers({ title, pairs }: { title: string; pairs: HarPair[] | undefined }): VNode | null {
  if (!pairs?.length) return null;
  return (
    <details>
      <summary>{`${title} (${pairs.length})`}</summary>
      <Pairs entries={pairs.map(({ name, value }) => [name, <Long text={value} isExact />])} />
    </details>
  );
}

function Body({ title, body }: { title: string; body: HarBody | undefined }): VNode | null {
  if (!body?.text) return null;
  const mime = body.mimeType ?? '';
  const isBinary = body.encoding === 'base64';
  const isPicture = isBinary && /^image\/[\w.+-]+$/.test(mime);
  const words = [mime && cut(mime, 60), body.size ? `${count(body.size)} bytes` : '', body._cut ? 'cut' : ''].filter(Boolean);
  return (
    <details>
      <summary>{`${title}${words.length ? ` (${visible(words.join(', '))})` : ''}`}</summary>
      {isPicture ? (
        <img class="body-picture" alt="" src={`data:${mime};base64,${body.text}`} />
      ) : isBinary ? (
        <p class="faint">It is not text.</p>
      ) : (
        <pre class="pre" tabIndex={0}>
          {visible(cut(readable(body.text, mime), 100_000))}
        </pre>
      )}
    </details>
  );
}

/** JSON is easier to read in several lines. */
function readable(text: string, mime = ''): string {
  if (!/json/.test(mime) || text.length > 100_000) return text;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    // Cut, or not JSON at all.
    return text;
  }
}
