import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK } from 'jose';
import type { Scope } from './scope.ts';

export interface TokenRequest {
  /** Of the header `Authorization`. */
  readonly authorization: string | undefined;
  /** Of the body. */
  readonly form: Readonly<Record<string, string>>;
}

interface IssuedClaims {
  readonly audience?: string;
  readonly lifeSeconds?: number;
}

/** An issuer of JSON Web Tokens: a token endpoint, and the keys that its tokens are verified with. */
export class TokenIssuer {
  readonly requests: TokenRequest[] = [];
  /** What the token endpoint answers in place of a token. */
  failure: { readonly status: number; readonly body: string } | undefined;
  /** Whether the token endpoint takes requests, and answers none. */
  isSilent = false;
  /** Of the tokens that it issues. */
  claims: IssuedClaims = {};
  readonly #url: string;
  readonly #key: CryptoKey;

  private constructor(url: string, key: CryptoKey) {
    this.#url = url;
    this.#key = key;
  }

  get tokenUrl(): string {
    return `${this.#url}/token`;
  }

  get keysUrl(): string {
    return `${this.#url}/keys`;
  }

  static async start(scope: Scope): Promise<TokenIssuer> {
    const { privateKey, publicKey } = await generateKeyPair('RS256');
    const server = createServer();
    server.listen(0, 'localhost');
    await once(server, 'listening');
    scope.after(() => {
      server.closeAllConnections();
      server.close();
    });
    const { port } = server.address() as AddressInfo;
    const issuer = new TokenIssuer(`http://localhost:${port}`, privateKey);
    const keys = [{ ...(await exportJWK(publicKey)), kid: 'one', alg: 'RS256', use: 'sig' }];
    server.on('request', (request, response) => void issuer.#answer(request, response, keys));
    return issuer;
  }

  /** A token that is signed as those of the endpoint. */
  sign({ audience = 'kafka', lifeSeconds = 3_600 }: IssuedClaims = {}): Promise<string> {
    const now = Math.floor(Date.now() / 1_000);
    return new SignJWT({ scope: 'kafka' })
      .setProtectedHeader({ alg: 'RS256', kid: 'one' })
      .setSubject('sluice')
      .setIssuer(this.#url)
      .setAudience(audience)
      .setIssuedAt(now + Math.min(0, lifeSeconds - 1))
      .setExpirationTime(now + lifeSeconds)
      .sign(this.#key);
  }

  async #answer(request: IncomingMessage, response: ServerResponse, keys: readonly JWK[]): Promise<void> {
    const send = (status: number, body: string): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(body);
    };
    if (request.url === '/keys') return send(200, JSON.stringify({ keys }));
    const form = Object.fromEntries(new URLSearchParams(await text(request)));
    this.requests.push({ authorization: request.headers.authorization, form });
    if (this.isSilent) return;
    if (this.failure !== undefined) return send(this.failure.status, this.failure.body);
    const token = await this.sign(this.claims);
    const { lifeSeconds = 3_600 } = this.claims;
    send(200, JSON.stringify({ access_token: token, token_type: 'Bearer', expires_in: lifeSeconds }));
  }
}
