/** The elements of a screen as a tree, a search that tries selectors, and everything about the element that was picked. */
import type { VNode } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Inspection, ScreenElement, SelectorMatches } from '../../generated/messages.ts';
import { use } from '../../shared/store.ts';
import { Data } from '../../shared/text.tsx';
import { count, cut, plural } from '../../shared/words.ts';
import { api, trouble } from '../app.ts';
import type { Screen } from '../hit.ts';
import { actionsFor } from './menu.tsx';
import { act, describe, inspect, type Session } from './state.ts';

export function Tree({ of }: { of: Session }): VNode {
  const screen = use(of.screen);
  const { leftOut } = use(of.about);
  const picked = use(of.picked);
  if (!screen) return <p class="empty">Waiting for the screen…</p>;
  return (
    <div class="tree-pane">
      <Search of={of} screen={screen} />
      <Elements of={of} screen={screen} />
      {leftOut > 0 && <p class="faint pad">{plural(leftOut, 'element was', 'elements were')} left out, because there are too many.</p>}
      {screen.elements[picked] && <Details of={of} screen={screen} element={screen.elements[picked]} />}
    </div>
  );
}

/** Tries a selector while it is written. */
function Search({ of, screen }: { of: Session; screen: Screen }): VNode {
  const [selector, setSelector] = useState('');
  const [found, setFound] = useState<SelectorMatches | undefined>(undefined);
  useEffect(() => {
    if (!selector.trim()) {
      setFound(undefined);
      of.matches.set([]);
      return undefined;
    }
    const asked = new AbortController();
    const timer = setTimeout(async () => {
      try {
        const answer = await api.trySelector({ session: of.name, selector }, asked.signal);
        setFound(answer);
        of.matches.set(answer.problem ? [] : answer.elements);
      } catch (thrown) {
        trouble(thrown);
      }
    }, 120);
    return () => {
      clearTimeout(timer);
      asked.abort();
    };
  }, [selector, screen.generation]);
  useEffect(() => () => of.matches.set([]), []);
  return (
    <div class="search">
      <input
        type="search"
        value={selector}
        placeholder="Try a selector: Pay, or {id: pay}"
        aria-label="Try a selector"
        spellcheck={false}
        autocomplete="off"
        onInput={(event) => setSelector(event.currentTarget.value)}
      />
      <p class={found?.problem ? 'problem' : 'faint'} role="status">
        {found &&
          (found.problem ? (
            <Data text={cut(found.problem, 300)} />
          ) : (
            <>
              {plural(found.elements.length + found.unlisted, 'match', 'matches')}
              {found.unlisted > 0 && `, ${found.unlisted} not listed,`}
              {found.understood && (
                <>
                  {' '}
                  for <Data text={cut(found.understood, 120)} cls="mono" />
                </>
              )}
            </>
          ))}
      </p>
      {found && found.elements.length > 0 && (
        <ul class="found">
          {found.elements.slice(0, 20).map((index) => {
            const element = screen.elements[index];
            return (
              element && (
                <li key={index}>
                  <button type="button" class="link" onClick={() => of.picked.set(index)} onMouseEnter={() => of.hovered.set(index)}>
                    <Data text={cut(describe(element), 80)} />
                  </button>
                </li>
              )
            );
          })}
        </ul>
      )}
    </div>
  );
}

const SMALL = 300;
const MOST_CHILDREN = 200;

function Elements({ of, screen }: { of: Session; screen: Screen }): VNode {
  const children = useMemo(() => {
    const lists = new Map<number, ScreenElement[]>();
    for (const element of screen.elements) {
      const list = lists.get(element.parent);
      if (list) list.push(element);
      else lists.set(element.parent, [element]);
    }
    return lists;
  }, [screen]);
  // By the places of an element and those above it, so that it holds over generations.
  const [toggled, setToggled] = useState<ReadonlyMap<string, boolean>>(new Map());
  const picked = use(of.picked);
  const box = useRef<HTMLUListElement>(null);
  const opensAll = screen.elements.length <= SMALL;
  const above = new Set<number>();
  for (let element = screen.elements[picked]; element; element = screen.elements[element.parent]) above.add(element.index);

  useEffect(() => {
    box.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' });
  }, [picked]);

  const item = (element: ScreenElement, level: number, path: string): VNode => {
    const inner = children.get(element.index) ?? [];
    const isOpen = toggled.get(path) ?? (opensAll || level < 3 || (above.has(element.index) && element.index !== picked));
    const toggle = (opens: boolean) => setToggled(new Map(toggled).set(path, opens));
    return (
      <li
        key={path}
        role="treeitem"
        aria-level={level}
        aria-expanded={inner.length ? isOpen : undefined}
        aria-selected={element.index === picked}
        tabIndex={element.index === picked || (picked < 0 && path === '0') ? 0 : -1}
        data-index={element.index}
        aria-label={describe(element)}
        onKeyDown={(event) => {
          if (event.target === event.currentTarget) keys(event, element, inner.length > 0, isOpen, toggle);
        }}
      >
        <div
          class={`node${element.width && element.height ? '' : ' hidden-element'}`}
          style={{ paddingLeft: `${Math.min(level, 24) * 14 - 8}px` }}
          onMouseEnter={() => of.hovered.set(element.index)}
          onMouseLeave={() => of.hovered.set(-1)}
          onClick={() => of.picked.set(element.index)}
        >
          <span
            class={inner.length ? `twist${isOpen ? ' open' : ''}` : 'twist leaf'}
            aria-hidden="true"
            onClick={(event) => {
              if (inner.length) {
                event.stopPropagation();
                toggle(!isOpen);
              }
            }}
          />
          <span class="role">{element.role}</span>
          {element.name && <Data text={cut(element.name, 80)} cls="name" />}
          {element.value && element.value !== element.name && <Data text={`= ${cut(element.value, 40)}`} cls="faint" />}
          {element.id && <Data text={`#${cut(element.id, 40)}`} cls="id" />}
          {element.state && <span class="tag">{element.state}</span>}
          {element.isDisabled && <span class="tag">disabled</span>}
        </div>
        {isOpen && inner.length > 0 && (
          <ul role="group">
            {inner.slice(0, MOST_CHILDREN).map((child, nth) => item(child, level + 1, `${path}/${nth}`))}
            {inner.length > MOST_CHILDREN && (
              <li role="none" class="faint pad">
                and {count(inner.length - MOST_CHILDREN)} more
              </li>
            )}
          </ul>
        )}
      </li>
    );
  };

  const keys = (event: KeyboardEvent, element: ScreenElement, hasChildren: boolean, isOpen: boolean, toggle: (opens: boolean) => void) => {
    const shown = [...box.current!.querySelectorAll<HTMLElement>('[role=treeitem]')];
    const here = shown.indexOf(event.currentTarget as HTMLElement);
    const focus = (node: HTMLElement | undefined) => {
      if (!node) return;
      of.picked.set(Number(node.dataset['index']));
      node.focus();
    };
    if (event.key === 'ArrowDown') focus(shown[here + 1]);
    else if (event.key === 'ArrowUp') focus(shown[here - 1]);
    else if (event.key === 'ArrowRight' && hasChildren) {
      if (isOpen) focus(shown[here + 1]);
      else toggle(true);
    } else if (event.key === 'ArrowLeft') {
      if (hasChildren && isOpen) toggle(false);
      else focus(shown.find((node) => Number(node.dataset['index']) === element.parent));
    } else if (event.key === 'Enter' || event.key === ' ') of.picked.set(element.index);
    else return;
    event.preventDefault();
  };

  return (
    <ul class="tree" role="tree" aria-label="Elements" ref={box}>
      {(children.get(-1) ?? []).map((element, nth) => item(element, 1, String(nth)))}
    </ul>
  );
}

/** Everything about one element. */
function Details({ of, screen, element }: { of: Session; screen: Screen; element: ScreenElement }): VNode {
  const [found, setFound] = useState<Inspection | undefined>(undefined);
  useEffect(() => {
    let isCurrent = true;
    setFound(undefined);
    void inspect(of, element.index).then((inspection) => {
      if (isCurrent) setFound(inspection);
    });
    return () => {
      isCurrent = false;
    };
  }, [element.index, screen.generation]);
  const middle = { element: element.index, x: Math.round(element.x + element.width / 2), y: Math.round(element.y + element.height / 2) };
  return (
    <section class="details" aria-label="Picked element">
      <h2>
        <Data text={cut(describe(element), 120)} />
      </h2>
      <div class="bar-row wrap">
        {actionsFor(of).map(([action, text]) => (
          <button key={action} type="button" class="button" onClick={() => void act(of, { ...middle, action })}>
            {text}
          </button>
        ))}
      </div>
      {found && found.descriptions.length > 0 && (
        <>
          <h3 class="label">Found by</h3>
          <ul class="ways">
            {found.descriptions.map((one, nth) => (
              <li key={nth} class="way">
                <span class="grow">
                  <Data text={one.text} />
                  <Data text={one.written} cls="selector mono" />
                </span>
                <span class={one.matches === 1 ? 'n one' : 'n'}>{plural(one.matches, 'match', 'matches')}</span>
                <button
                  type="button"
                  class="link"
                  aria-label={`Tap by ${one.text}`}
                  onClick={() => void act(of, { ...middle, action: 'tap', description: nth })}
                >
                  tap by this
                </button>
              </li>
            ))}
          </ul>
        </>
      )}
      {found && found.assertions.length > 0 && (
        <>
          <h3 class="label">Assert</h3>
          <ul class="ways">
            {found.assertions.map((one, nth) => (
              <li key={nth} class="way">
                <Data text={one.text} cls="grow" />
                <button
                  type="button"
                  class="link"
                  aria-label={`Assert: ${one.text}`}
                  onClick={() => void act(of, { ...middle, action: 'assert', assertion: nth })}
                >
                  assert
                </button>
              </li>
            ))}
          </ul>
        </>
      )}
      {element.isEditable && <Fill of={of} element={element} />}
      {element.options.length > 0 && <Choose of={of} element={element} />}
      {found && (
        <details open>
          <summary>Properties</summary>
          <dl class="pairs">
            {Object.entries(found.properties).map(([name, value]) => [
              <dt key={name}>{name}</dt>,
              <dd key={`${name}=`}>
                <Data text={typeof value === 'string' ? value : JSON.stringify(value)} />
              </dd>,
            ])}
          </dl>
        </details>
      )}
    </section>
  );
}

function Choose({ of, element }: { of: Session; element: ScreenElement }): VNode {
  const [option, setOption] = useState(element.value);
  return (
    <form
      class="do"
      onSubmit={(event) => {
        event.preventDefault();
        void act(of, { action: 'choose', element: element.index, text: option });
      }}
    >
      <select class="grow" value={option} aria-label="Option to choose" onChange={(event) => setOption(event.currentTarget.value)}>
        {element.options.map((one, nth) => (
          <option key={nth} value={one}>
            {one}
          </option>
        ))}
      </select>
      <button type="submit" class="button">
        Choose
      </button>
    </form>
  );
}

function Fill({ of, element }: { of: Session; element: ScreenElement }): VNode {
  const [text, setText] = useState(element.value);
  return (
    <form
      class="do"
      onSubmit={(event) => {
        event.preventDefault();
        void act(of, { action: 'fill', element: element.index, text });
      }}
    >
      <input type="text" value={text} aria-label="Text to put into the field" onInput={(event) => setText(event.currentTarget.value)} />
      <button type="submit" class="button">
        Fill
      </button>
    </form>
  );
}
