import type { CheckedOptions } from "../options.ts";
import { Login, Passwords } from "./login.ts";

/** A login as one store uses it. */
export interface LoginShare {
  login: Login;
  user: string;
  /** Call it when the store has closed. The token is dropped with the last store. */
  release(): void;
}

const shared = new Map<string, { login: Login; stores: number }>();

/**
 * Returns the login that all stores of this process share when they have the same members, user, password and TLS
 * options.
 * @returns undefined when no user is configured
 */
export function shareLogin(options: CheckedOptions, unit: () => number): LoginShare | undefined {
  const { user, password, passwordFile, parsed, tls } = options;
  if (user === undefined || password === undefined) return undefined;
  const urls = parsed.map(({ url }) => url).sort();
  const key = JSON.stringify([urls, user, password, passwordFile, tls]);
  const entry = shared.get(key) ?? {
    login: new Login(user, new Passwords(password, passwordFile), unit),
    stores: 0,
  };
  entry.stores += 1;
  shared.set(key, entry);
  let isReleased = false;
  return {
    login: entry.login,
    user,
    release: () => {
      if (isReleased) return;
      isReleased = true;
      entry.stores -= 1;
      if (entry.stores === 0) shared.delete(key);
    },
  };
}
