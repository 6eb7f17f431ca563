# One image for everything that runs in a cluster. It is built in one stage and shipped without what built it.
FROM rust:1-bookworm AS rust

FROM node:24-bookworm AS build
COPY --from=rust /usr/local/rustup /usr/local/rustup
COPY --from=rust /usr/local/cargo /usr/local/cargo
ENV RUSTUP_HOME=/usr/local/rustup CARGO_HOME=/usr/local/cargo PATH=/usr/local/cargo/bin:$PATH
RUN apt-get update && apt-get install -y --no-install-recommends musl-tools && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY tsconfig.json ./
COPY hack hack
COPY pkg pkg
COPY plugin plugin
COPY agent agent
COPY controller controller
COPY ctl ctl
COPY cmd cmd
# The launchers name the Node of the image below, and the plugin must be the native one.
RUN LAUNCHER_NODE=/usr/local/bin/node ./hack/build --force && test -x dist/native/ipledger

FROM node:24-bookworm-slim
WORKDIR /opt/ipledger
COPY --from=build /src/package.json ./
COPY --from=build /src/dist/agent agent
COPY --from=build /src/dist/controller.js /src/dist/ctl.js /src/dist/heap.js ./
COPY --from=build /src/dist/ipledger-agent /src/dist/ipledger-controller /src/dist/ipledgerctl ./
COPY --from=build /src/dist/native/ipledger cni/ipledger
# Native code cannot be bundled.
COPY --from=build /src/node_modules/koffi node_modules/koffi
COPY --from=build /src/node_modules/@koromix node_modules/@koromix
RUN ln -s /opt/ipledger/ipledger-agent /opt/ipledger/ipledger-controller /opt/ipledger/ipledgerctl /usr/local/bin/
ENTRYPOINT ["ipledger-agent"]
