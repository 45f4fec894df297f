# The gateway as a container: docker build -t sluice .
# Takes any graph: mounted, or copied in by deploy/graph.Dockerfile; see docs/guides/kubernetes.md.
FROM node:24.21.0-bookworm-slim AS build
WORKDIR /build
COPY package.json yarn.lock .yarnrc.yml ./
COPY .yarn ./.yarn
RUN node .yarn/releases/yarn-*.cjs install --immutable
COPY babel.config.js ./
COPY babel-plugins ./babel-plugins
COPY scripts ./scripts
COPY src ./src
COPY examples ./examples
RUN node scripts/build.mjs
RUN node scripts/release/sbom.mjs --peers sbom.cdx.json

FROM node:24.21.0-bookworm-slim AS dependencies
WORKDIR /dependencies
COPY package.json yarn.lock .yarnrc.yml ./
COPY .yarn ./.yarn
# What sends traces, signs tokens for Amazon MSK, and reads .proto files, which the package leaves to its users.
COPY scripts/release/with-peers.mjs ./
RUN node with-peers.mjs
RUN node .yarn/releases/yarn-*.cjs workspaces focus --production
# The gateway loads babel.min.js.
RUN rm node_modules/@babel/standalone/babel.js node_modules/@babel/standalone/*.map

FROM node:24.21.0-bookworm-slim
WORKDIR /app
COPY --from=dependencies /dependencies/node_modules ./node_modules
COPY --from=build /build/dist/src ./dist/src
COPY --from=build /build/dist/babel-plugins ./dist/babel-plugins
COPY --from=build /build/dist/examples ./dist/examples
COPY --from=build /build/dist/graphiql ./dist/graphiql
COPY --from=build /build/sbom.cdx.json ./
COPY package.json LICENSE ./
COPY deploy/container/start deploy/container/health deploy/container/topics.mjs ./
ENV NODE_ENV=production
# By number, so that Kubernetes can tell that it is not root. Nothing in the image is theirs to change.
USER 1000:1000
EXPOSE 4000 4001
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s CMD ["/app/health", "/livez"]
ENTRYPOINT ["/app/start"]
CMD ["serve"]
