# The image of hack/image for those who have an engine: the same files, because hack/image lists and writes them here too.
#   docker build --build-arg REVISION=$(git rev-parse HEAD) --build-arg SOURCE_DATE_EPOCH=$(git log -1 --format=%ct) .
ARG RUST_IMAGE=rust:1-bookworm
ARG NODE_IMAGE=node:24-bookworm
FROM --platform=$BUILDPLATFORM ${RUST_IMAGE} AS rust

FROM --platform=$BUILDPLATFORM ${NODE_IMAGE} AS build
COPY --from=rust /usr/local/rustup /usr/local/rustup
COPY --from=rust /usr/local/cargo /usr/local/cargo
ENV RUSTUP_HOME=/usr/local/rustup CARGO_HOME=/usr/local/cargo PATH=/usr/local/cargo/bin:$PATH
# A plugin for another processor is compiled by zig, which pip installs.
RUN apt-get update && apt-get install -y --no-install-recommends musl-tools python3-pip && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY tsconfig.json LICENSE ./
COPY hack hack
COPY pkg pkg
COPY plugin plugin
COPY agent agent
COPY controller controller
COPY ctl ctl
COPY cmd cmd
ARG TARGETARCH
ARG REVISION=unknown
ARG SOURCE_DATE_EPOCH=0
RUN hack/image --root /image --arch "$TARGETARCH"

FROM scratch
COPY --from=build /image/libraries /
COPY --from=build /image/node /
COPY --from=build /image/ipledger /
ARG REVISION=unknown
LABEL org.opencontainers.image.title="ipledger" \
      org.opencontainers.image.description="IP address manager for Kubernetes underlay networks: agent, controller, ipledgerctl and CNI plugin" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="0.1.0" \
      org.opencontainers.image.revision="${REVISION}"
ENV PATH=/usr/local/bin
WORKDIR /
# The agent of a cluster asks for root; everything else needs no rights.
USER 65532:65532
ENTRYPOINT ["ipledger-agent"]
