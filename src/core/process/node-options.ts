/** Without this option, USR1 opens a debugger, in which everybody on this host can run code. Node.js 22.14 knows it. */
export const NO_DEBUGGER = "--disable-sigusr1";
