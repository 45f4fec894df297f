# The gateway with a graph of your own, which lies beside this file in the folder "graph". Its TypeScript is compiled.
#   docker build -t sluice-build --target build <folder of Sluice> && docker build -t sluice <folder of Sluice>
#   docker build -t my-gateway -f graph.Dockerfile .
FROM sluice-build AS graph
COPY graph ./graph
RUN node dist/src/cli.js build graph

FROM sluice
COPY --from=graph /build/graph ./graph
ENV GRAPH=/app/graph
