import type { Store } from "./store.ts";

/** Creates a store that replaces the given functions of another store, and passes all other calls on to it. */
export function delegateStore(store: Store, overrides: Partial<Store>): Store {
  return {
    grant: (...args) => store.grant(...args),
    renew: (...args) => store.renew(...args),
    readTimeToLive: (...args) => store.readTimeToLive(...args),
    listSessionKeys: (...args) => store.listSessionKeys(...args),
    listSessions: (...args) => store.listSessions(...args),
    revoke: (...args) => store.revoke(...args),
    readRange: (...args) => store.readRange(...args),
    commitTxn: (...args) => store.commitTxn(...args),
    watch: (...args) => store.watch(...args),
    readMemberStatuses: (...args) => store.readMemberStatuses(...args),
    listMembers: (...args) => store.listMembers(...args),
    readUsers: (...args) => store.readUsers(...args),
    close: () => store.close(),
    ...overrides,
  };
}
