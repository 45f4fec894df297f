#!/usr/bin/env node
/** Stands in for the program of Centrifugo: the settings, the health, the protocol and the commands that the load test relies on. */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import kafkajs from 'kafkajs';
import { WebSocket, WebSocketServer, type RawData } from 'ws';

interface Configuration {
  readonly http_server: { readonly address: string; readonly port: string };
  readonly consumers: readonly {
    readonly kafka: { readonly brokers: string[]; readonly topics: string[]; readonly consumer_group: string };
  }[];
}

const [, , , file = ''] = process.argv;
const { http_server: http, consumers } = JSON.parse(readFileSync(file, 'utf8')) as Configuration;
const [{ kafka } = { kafka: { brokers: [], topics: [], consumer_group: '' } }] = consumers;

const channels = new Map<string, Set<WebSocket>>();

const server = createServer((request, response) => {
  response.writeHead(request.url === '/health' ? 200 : 404).end();
});
new WebSocketServer({ server, path: '/connection/websocket' }).on('connection', (socket) => {
  socket.on('message', (message: RawData) => {
    const { id, subscribe } = JSON.parse((message as Buffer).toString()) as {
      id: number;
      subscribe?: { channel: string };
    };
    if (subscribe === undefined) {
      socket.send(JSON.stringify({ id, connect: {} }));
      return;
    }
    const sockets = channels.get(subscribe.channel) ?? new Set();
    channels.set(subscribe.channel, sockets.add(socket));
    socket.on('close', () => sockets.delete(socket)).send(JSON.stringify({ id, subscribe: {} }));
  });
});

const consumer = new kafkajs.Kafka({ brokers: kafka.brokers, logLevel: kafkajs.logLevel.NOTHING }).consumer({
  groupId: kafka.consumer_group,
});
await consumer.connect();
await consumer.subscribe({ topics: kafka.topics, fromBeginning: true });
await consumer.run({
  eachMessage: async ({ message }) => {
    const { payload } = JSON.parse(String(message.value)) as { payload: { channel: string; data: object } };
    const push = JSON.stringify({ push: { channel: payload.channel, pub: { data: payload.data } } });
    for (const socket of channels.get(payload.channel) ?? []) socket.send(push);
  },
});
server.listen(Number(http.port), http.address);
process.once('SIGTERM', async () => {
  await consumer.disconnect();
  process.exit(0);
});
