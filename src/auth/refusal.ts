/** Why a client is not let in. The reason is for the client: it names no secret, and fits into a close frame. */
export class TokenRefusal {
  readonly reason: string;
  /** The gateway can't judge the token at present: the same token may be accepted later. */
  readonly isTemporary: boolean;

  constructor(reason: string, isTemporary = false) {
    this.reason = reason;
    this.isTemporary = isTemporary;
  }
}

/** A pod that has just started refuses all tokens: it can't know yet who is revoked. */
export const REVOCATIONS_UNREAD = new TokenRefusal(
  'This pod has not read yet who is revoked: try again later',
  true,
);
