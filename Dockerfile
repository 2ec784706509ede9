# Waymark in a container: docs/operations.md, "Containers, systemd, Kubernetes". In a checkout, which has the sources:
#   docker build --tag waymark .
#   docker run --init --stop-timeout 35 --publish 127.0.0.1:8000:8000 --volume waymark:/data waymark

# The version that CI runs the tests with. `--build-arg NODE=20-bookworm-slim@sha256:…` pins the image to a digest.
ARG NODE=20-bookworm-slim

FROM node:${NODE} AS build
WORKDIR /build
COPY package.json package-lock.json ./
RUN npm ci --no-audit --no-fund
COPY tsconfig.json ./
COPY build build
COPY src src
# What remains has the versions of the lock file: the dependencies, and the optional packages for S3, PostgreSQL, ClickHouse and e-mail.
RUN node build/image.mjs && npm prune --offline --ignore-scripts --no-audit --no-fund

FROM node:${NODE}
ENV NODE_ENV=production
# For commands beside the server: `docker exec CONTAINER waymark doctor`.
ENV WAYMARK_DATA=/data
WORKDIR /app
COPY LICENSE package.json ./
COPY --from=build /build/node_modules node_modules
COPY --from=build /build/dist dist
# 1000 is the user `node` of the image; by its number, so that an orchestrator can see that it is not root.
RUN chmod 755 /app/dist/cli.js \
  && ln -s /app/dist/cli.js /usr/local/bin/waymark \
  && mkdir -m 700 /data \
  && chown 1000:1000 /data
USER 1000:1000
VOLUME /data
EXPOSE 8000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=6 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.WAYMARK_PORT || 8000}/_livez`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["waymark"]
CMD ["serve", "--host", "0.0.0.0", "--data", "/data"]
