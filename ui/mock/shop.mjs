// A made-up shop: elements, and a picture of them as rectangles.
import { deflateSync } from 'node:zlib';

const [WIDTH, HEIGHT] = [1280, 800];

export function shop(more) {
  const elements = [];
  const add = (parent, role, name, x, y, width, height, extra = {}) => {
    elements.push({
      index: elements.length,
      parent,
      role,
      name,
      id: '',
      value: '',
      x,
      y,
      width,
      height,
      isInteractive: ['button', 'link', 'textbox'].includes(role),
      isEditable: role === 'textbox',
      isDisabled: false,
      state: '',
      options: [],
      ...extra,
    });
    return elements.length - 1;
  };
  const page = add(-1, 'document', 'Shop', 0, 0, WIDTH, HEIGHT);
  const head = add(page, 'banner', '', 0, 0, WIDTH, 64);
  add(head, 'link', 'Trail Shop', 24, 16, 120, 32, { id: 'home' });
  const search = add(head, 'textbox', 'Search', 420, 14, 360, 36, { id: 'search' });
  add(head, 'combobox', 'Sort by', 810, 14, 180, 36, {
    id: 'sort',
    isInteractive: true,
    value: 'Name',
    options: ['Name', 'Price', 'Newest'],
  });
  add(head, 'button', 'Basket', 1130, 14, 120, 36, { id: 'basket' });
  const list = add(page, 'list', 'Products', 24, 96, 1232, 640);
  ['Boots', 'Tent', 'Stove', 'Map', 'Rope', 'Lamp', 'Cup', 'Socks'].forEach((name, nth) => {
    const [x, y] = [24 + (nth % 4) * 312, 96 + Math.floor(nth / 4) * 320];
    const card = add(list, 'listitem', '', x, y, 292, 300);
    add(card, 'heading', name, x + 16, y + 190, 180, 24);
    add(card, 'text', `€${20 + nth * 7}.00`, x + 16, y + 220, 80, 20);
    const button = add(card, 'button', 'Add to basket', x + 16, y + 250, 150, 36);
    add(button, 'text', 'Add to basket', x + 40, y + 258, 100, 20);
  });
  for (let nth = 0; nth < more; nth += 1) add(page, 'text', `Line ${nth}`, (nth % 100) * 12, 740 + (Math.floor(nth / 100) % 60), 10, 1);
  let hue = 0;
  return {
    elements,
    generation: 1,
    pictures: 0,
    app: 'http://localhost:8080/',
    act(action, target, text) {
      if (action === 'type' || action === 'fill') elements[search].value += text ?? '';
      if (target?.isInteractive) hue = (hue + 40) % 255;
      this.generation += 1;
      this.pictures += 1;
    },
    blink() {
      hue = (hue + 5) % 255;
      this.pictures += 1;
    },
    update(seen) {
      const [hasElements, hasPicture] = [seen.generation !== this.generation, seen.pictures !== this.pictures];
      [seen.generation, seen.pictures] = [this.generation, this.pictures];
      return {
        generation: this.generation,
        hasElements,
        elements: hasElements ? elements : [],
        picture: hasPicture ? picture(elements, hue).toString('base64') : '',
        pictureType: 'image/png',
        width: WIDTH,
        height: HEIGHT,
        app: this.app,
        leftOut: 0,
        lost: '',
      };
    },
  };
}

const COLOURS = {
  document: [250, 250, 248],
  banner: [34, 48, 60],
  list: [250, 250, 248],
  listitem: [255, 255, 255],
  button: [59, 84, 214],
  link: [240, 200, 90],
  textbox: [255, 255, 255],
  heading: [60, 60, 70],
  text: [150, 155, 165],
};

function picture(elements, hue) {
  const rows = Buffer.alloc(HEIGHT * (1 + WIDTH * 3));
  for (const { role, x, y, width, height } of elements) {
    const [r, g, b] = COLOURS[role] ?? [200, 200, 200];
    for (let row = Math.max(0, y); row < Math.min(HEIGHT, y + height); row += 1) {
      for (let at = row * (1 + WIDTH * 3) + 1 + Math.max(0, x) * 3, end = at + Math.min(width, WIDTH - x) * 3; at < end; at += 3) {
        rows[at] = r;
        rows[at + 1] = role === 'banner' ? (g + hue) % 255 : g;
        rows[at + 2] = b;
      }
    }
  }
  const part = (type, data) => {
    const body = Buffer.concat([Buffer.from(type), data]);
    const out = Buffer.alloc(8 + body.length);
    out.writeUInt32BE(data.length, 0);
    body.copy(out, 4);
    out.writeInt32BE(crc(body), 4 + body.length);
    return out;
  };
  const head = Buffer.alloc(13);
  head.writeUInt32BE(WIDTH, 0);
  head.writeUInt32BE(HEIGHT, 4);
  head.set([8, 2, 0, 0, 0], 8);
  return Buffer.concat([
    Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]),
    part('IHDR', head),
    part('IDAT', deflateSync(rows, { level: 1 })),
    part('IEND', Buffer.alloc(0)),
  ]);
}

function crc(bytes) {
  let sum = -1;
  for (const byte of bytes) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit += 1) sum = (sum >>> 1) ^ (sum & 1 ? 0xedb88320 : 0);
  }
  return ~sum;
}
