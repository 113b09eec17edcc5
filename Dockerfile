FROM node:24-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY tsconfig.json tsconfig.build.json ./
COPY src ./src
RUN npm run build

FROM node:24-slim
WORKDIR /app
ENV NODE_ENV=production
COPY package.json package-lock.json .npmrc ./
# No package of production needs its install script.
RUN npm ci --omit=dev --ignore-scripts && npm cache clean --force
COPY sql ./sql
COPY migrations ./migrations
COPY --from=build /app/dist ./dist
USER node
EXPOSE 3476 3478
ENTRYPOINT ["node", "dist/main.js"]
CMD ["serve"]
