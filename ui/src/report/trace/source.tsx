/** The trail as it was when the attempt ran, with the line of what is chosen. */
import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { CopyButton } from '../../shared/copy.tsx';
import { Data, Long } from '../../shared/text.tsx';
import { visible } from '../../shared/words.ts';
import { TrailExcerpt } from '../failures.tsx';
import { useView } from '../view.ts';
import { useTrace } from './context.ts';
import { placeOf, resolvedArgs } from './model.ts';

export function SourceTab(): VNode {
  const { control, chosen, detail } = useTrace();
  const { source } = useView();
  const sources = detail.sources ?? [];
  const place = chosen && placeOf(control.model, chosen);
  const [wanted, setWanted] = useState<string | null>(null);
  // What a person opened is shown until something else is chosen.
  useEffect(() => setWanted(null), [chosen?.key]);
  const file = sources.find(({ path }) => path === (wanted ?? place?.path)) ?? sources[0];
  const [read, setRead] = useState<{ path: string; text: string } | null>(null);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!file) return undefined;
    let isCurrent = true;
    const { kept } = file;
    const text =
      typeof kept === 'object' && kept.missing !== undefined
        ? Promise.resolve(`${file.file} ${kept.missing}`)
        : source.tree(file.file, kept);
    text.then(
      (found) => isCurrent && setRead({ path: file.path, text: found }),
      (error: unknown) => isCurrent && setRead({ path: file.path, text: String(error) }),
    );
    return () => {
      isCurrent = false;
    };
  }, [file?.file]);
  const line = place && file?.path === place.path ? place.line : 0;
  const isRead = read !== null && read.path === file?.path;
  useEffect(() => {
    box.current?.querySelector('.marked')?.scrollIntoView({ block: 'center' });
  }, [isRead, line]);
  if (!file) return <p class="tab-empty">The files of the trail were not kept.</p>;
  const resolved = chosen?.call ? resolvedArgs(control.model, chosen.call) : [];
  return (
    <div class="source" ref={box}>
      <div class="tab-tools">
        {sources.length > 1 ? (
          <select aria-label="File" value={file.path} onChange={(event) => setWanted(event.currentTarget.value)}>
            {sources.map(({ path }) => (
              <option key={path} value={path}>
                {visible(path)}
              </option>
            ))}
          </select>
        ) : (
          <Data text={file.path} cls="mono" />
        )}
        {line > 0 && <span class="faint">{`line ${line}`}</span>}
        <CopyButton text={line > 0 ? `${file.path}:${line}` : file.path} what="the place" />
      </div>
      {resolved.length > 0 && (
        <dl class="pairs resolved">
          {resolved.map(({ name, written, value }) => [
            <dt>{visible(name)}</dt>,
            <dd>
              <Data text={written} /> <span class="faint">was</span>{' '}
              {value === null ? <span class="faint">not kept</span> : <Long text={value} isExact />}
            </dd>,
          ])}
        </dl>
      )}
      {isRead && <TrailExcerpt first={1} text={read.text} marked={line} />}
    </div>
  );
}
