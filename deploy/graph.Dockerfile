# The gateway with a graph of your own, which lies beside this file in the folder "graph", with what it has installed.
#   docker build -t sluice <folder of Sluice> && docker build -t my-gateway -f graph.Dockerfile .
FROM sluice
COPY graph /app/graph
ENV GRAPH=/app/graph
