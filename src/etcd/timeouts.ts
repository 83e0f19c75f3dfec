/** All times in milliseconds. */
export interface Timeouts {
  /**
   * Limit for a first attempt. If there is only one member, and it was quick before and is silent now, the limit is
   * half of it. Each further attempt on the same member gets twice as long. Default 2,000.
   */
  attempt: number;
  /**
   * Time without a response after which a copy goes to another member, if there is one. Longer when all members are
   * slow. Default 600.
   */
  hedge: number;
  /** Limit for a call with all its attempts. Default 6,000. */
  total: number;
  /** Interval of progress requests on a quiet watch. Default 10,000. */
  probe: number;
  /** Limit for a login. Default 10,000. */
  login: number;
}
