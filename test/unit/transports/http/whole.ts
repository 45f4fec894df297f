import assert from 'node:assert/strict';
import {
  HttpTransport,
  type HttpResponse,
  type HttpTransportOptions,
} from '../../../../src/transports/http/transport.ts';

/** For requests whose answers are whole: none asks for the results of a subscription. */
export function wholeResponses(options: HttpTransportOptions): {
  respond(...request: Parameters<HttpTransport['respond']>): Promise<HttpResponse>;
} {
  const transport = new HttpTransport(options);
  return {
    async respond(...request) {
      const response = await transport.respond(...request);
      assert.ok('status' in response);
      return response;
    },
  };
}
