FROM node:24-bookworm-slim AS manifest
WORKDIR /app
COPY package.json package-lock.json .npmrc ./

FROM manifest AS build
# Neither building nor running needs any install script.
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json ./
COPY src ./src
COPY examples/models ./examples/models
COPY scripts/copy-page.ts scripts/build-console.ts ./scripts/
RUN npm run build && chmod a+x dist/main.js

FROM manifest AS packages
# Types and maps are a third of what packages bring, and nothing reads them here.
RUN npm ci --ignore-scripts --omit=dev \
 && rm -rf node_modules/@types node_modules/undici-types \
 && find node_modules -type f \
      \( -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' -o -name '*.map' \) -delete

# Node alone, on the Debian that it was built for: no package manager runs where Pemba does.
FROM debian:bookworm-slim
LABEL org.opencontainers.image.title="Pemba" \
      org.opencontainers.image.description="A multi-tenant authorization service over REST and gRPC"
COPY --from=build /usr/local/bin/node /usr/local/bin/node
WORKDIR /app
# At SIGUSR1 Node opens its debugger, until Pemba listens to the signal.
ENV NODE_ENV=production NODE_OPTIONS=--disable-sigusr1
COPY --from=packages /app/node_modules ./node_modules
COPY package.json ./
COPY migrations ./migrations
COPY sql ./sql
COPY --from=build /app/dist ./dist
RUN ln -s /app/dist/main.js /usr/local/bin/pemba
# By number, so that an orchestrator sees that it is not root.
USER 1000:1000
EXPOSE 3476 3478
HEALTHCHECK --interval=10s --timeout=6s --start-period=30s --retries=3 CMD ["pemba", "health"]
ENTRYPOINT ["pemba"]
CMD ["serve"]
