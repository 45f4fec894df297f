import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { exportJWK, generateKeyPair, SignJWT, type GenerateKeyPairResult } from 'jose';
import { serveHttp } from './local-server.ts';
import type { Scope } from './scope.ts';

export interface TokenRequest {
  /** The `Authorization` header. */
  readonly authorization: string | undefined;
  /** The fields of the body. */
  readonly form: Readonly<Record<string, string>>;
}

interface IssuedClaims {
  readonly audience?: string;
  readonly lifeSeconds?: number;
}

/** An issuer of JSON Web Tokens: a token endpoint, and the keys that its tokens are verified with. */
export class TokenIssuer {
  readonly requests: TokenRequest[] = [];
  /** The token endpoint's answer in place of a token. */
  failure: { readonly status: number; readonly body: string } | undefined;
  /** Whether the token endpoint takes requests and never answers. */
  isSilent = false;
  /** The claims of tokens that the endpoint issues. */
  claims: IssuedClaims = {};
  readonly #url: string;
  readonly #keys: GenerateKeyPairResult;

  private constructor(url: string, keys: GenerateKeyPairResult) {
    this.#url = url;
    this.#keys = keys;
  }

  get tokenUrl(): string {
    return `${this.#url}/token`;
  }

  get keysUrl(): string {
    return `${this.#url}/keys`;
  }

  /** @param other an issuer whose keys this one shares, so that servers that take tokens of one take those of both */
  static async start(scope: Scope, other?: TokenIssuer): Promise<TokenIssuer> {
    const pair = other === undefined ? await generateKeyPair('RS256') : other.#keys;
    const url = await serveHttp(scope, (...exchange) => void issuer.#answer(...exchange));
    const issuer = new TokenIssuer(url, pair);
    return issuer;
  }

  /** Returns a token that is signed like those of the endpoint. */
  sign({ audience = 'kafka', lifeSeconds = 3_600 }: IssuedClaims = {}): Promise<string> {
    const now = Math.floor(Date.now() / 1_000);
    return new SignJWT({ scope: 'kafka' })
      .setProtectedHeader({ alg: 'RS256', kid: 'one' })
      .setSubject('sluice')
      .setIssuer(this.#url)
      .setAudience(audience)
      .setIssuedAt(now + Math.min(0, lifeSeconds - 1))
      .setExpirationTime(now + lifeSeconds)
      .sign(this.#keys.privateKey);
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const send = (status: number, body: string): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(body);
    };
    if (request.url === '/keys') {
      const key = { ...(await exportJWK(this.#keys.publicKey)), kid: 'one', alg: 'RS256', use: 'sig' };
      return send(200, JSON.stringify({ keys: [key] }));
    }
    const form = Object.fromEntries(new URLSearchParams(await text(request)));
    this.requests.push({ authorization: request.headers.authorization, form });
    if (this.isSilent) return;
    if (this.failure !== undefined) return send(this.failure.status, this.failure.body);
    const token = await this.sign(this.claims);
    const { lifeSeconds = 3_600 } = this.claims;
    send(200, JSON.stringify({ access_token: token, token_type: 'Bearer', expires_in: lifeSeconds }));
  }
}
