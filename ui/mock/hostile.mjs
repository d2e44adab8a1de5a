// Texts and a document that try to become part of the page.

export const HOSTILE = `</script><script>alert(1)</script><img src=x onerror=alert(2)> \u202etxt.exe \u0000\u0007\u001b[31m {{index}} ]]> & ${'unbroken'.repeat(40)}`;

/** The trace of an attempt whose page is hostile. */
export function hostileTrace(frames, size, at) {
  const hostile = [
    'html',
    { onload: 'alert(3)', style: 'background: url(https://evil.example/a.png)' },
    [
      'head',
      ['base', { href: 'https://evil.example/' }],
      ['meta', { 'http-equiv': 'refresh', content: '0;url=https://evil.example/' }],
      ['link', { rel: 'stylesheet', href: 'https://evil.example/a.css' }],
    ],
    [
      'body',
      ['script', 'alert(4)'],
      ['img', { src: 'x', onerror: 'alert(5)' }],
      ['a', { href: 'javascript:alert(6)', onclick: 'alert(7)' }, HOSTILE],
      [
        'svg',
        ['animate', { attributeName: 'href', to: 'javascript:alert(8)' }],
        ['use', { 'xlink:href': 'https://evil.example/#a' }],
        ['script', 'alert(9)'],
      ],
      [
        'form',
        { action: 'https://evil.example/' },
        ['button', { formaction: 'javascript:alert(10)', autofocus: '', onfocus: 'alert(11)' }, 'Send'],
      ],
      ['iframe', { src: 'https://evil.example/', srcdoc: '<script>alert(12)</script>', sandbox: 'allow-scripts' }],
      ['object', { data: 'https://evil.example/' }],
      ['template', { shadowrootmode: 'open' }, ['script', 'alert(13)']],
      ['1bad', { 'bad name': 'x' }, 'odd'],
      ['x-evil', { is: 'x', ':shadow': [['script', 'alert(14)'], 'in shadow'] }],
      ['video', { src: 'https://evil.example/a.mp4', autoplay: '', poster: 'https://evil.example/p.png' }],
      ['input', { type: 'image', src: 'https://evil.example/i.png' }],
    ],
  ];
  const page = {
    url: HOSTILE,
    base: HOSTILE,
    scroll: [0, 0],
    sheets: [
      {
        text: '@import url(https://evil.example/b.css); body { background: url(https://evil.example/c.png) } @font-face { font-family: x; src: url(https://evil.example/f.woff) } p { font-family: x }',
      },
      'traces/sheets/gone.css',
    ],
    node: hostile,
  };
  const hostileDocument = {
    at: at,
    call: 'none',
    moment: 'after',
    url: HOSTILE,
    title: HOSTILE,
    ...size,
    frames: [page],
    root: 0,
  };
  return `trailblazeTrace("a11",${JSON.stringify({ frames, documents: [hostileDocument] })});\n`;
}
