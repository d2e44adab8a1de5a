// Sessions, identified by a cookie. Each has its own cart; after signing in, it also has a user.
import { randomUUID } from "node:crypto";

const COOKIE = "shop_session";
const PASSWORDS = new Map([["ada@example.com", "correct horse"], ["grace@example.com", "battery staple"]]);
const MOST = 10_000;
const TWO_WEEKS = 14 * 24 * 60 * 60;

class Session {
  id = randomUUID();
  user = null;
  cart = new Map();

  put(sku, count) {
    const now = (this.cart.get(sku) ?? 0) + count;
    if (now > 0) this.cart.set(sku, now);
    else this.cart.delete(sku);
  }
}

export class Sessions {
  #known = new Map();

  // Returns the session of a request, or creates one and sets its cookie.
  of(request, response) {
    const id = (request.headers.cookie ?? "").split(/;\s*/).find((pair) => pair.startsWith(`${COOKIE}=`))?.slice(COOKIE.length + 1);
    const known = this.#known.get(id);
    if (known) return known;
    const session = new Session();
    this.#known.set(session.id, session);
    if (this.#known.size > MOST) this.#known.delete(this.#known.keys().next().value);
    response.setHeader("set-cookie", cookie(session));
    return session;
  }

  // Makes the cookie outlive the browser.
  remember(response, session) {
    response.setHeader("set-cookie", `${cookie(session)}; Max-Age=${TWO_WEEKS}`);
  }

  knows(email, password) {
    return PASSWORDS.get(email) === password;
  }
}

const cookie = (session) => `${COOKIE}=${session.id}; Path=/; HttpOnly; SameSite=Lax`;
