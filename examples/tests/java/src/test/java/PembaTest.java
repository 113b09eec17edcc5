import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.wait.strategy.Wait;

/** Tests of an application: one server for all of them, and a tenant for each. */
class PembaTest {
  static final String SCHEMA =
      "entity user {} entity document { relation viewer @user permission view = viewer }";

  static final HttpClient http = HttpClient.newHttpClient();

  static final GenericContainer<?> pemba =
      new GenericContainer<>("pemba")
          .withCommand("serve", "--server-rate-limit", "1000000000")
          .withExposedPorts(3476, 3478)
          .waitingFor(Wait.forHttp("/healthz").forPort(3476));

  static String url;

  @BeforeAll
  static void start() {
    pemba.start();
    url = "http://" + pemba.getHost() + ":" + pemba.getMappedPort(3476);
  }

  @AfterAll
  static void stop() {
    pemba.stop();
  }

  @Test
  void aViewerMayView() throws Exception {
    var tenant = createTenant();
    post(
        tenant + "/data/write",
        """
        {"metadata": {}, "tuples": [{
          "entity": {"type": "document", "id": "plan"},
          "relation": "viewer",
          "subject": {"type": "user", "id": "ada"}}]}""");
    assertTrue(check(tenant, "ada").contains("RESULT_ALLOWED"));
  }

  @Test
  void aStrangerMayNot() throws Exception {
    assertTrue(check(createTenant(), "eve").contains("RESULT_DENIED"));
  }

  /** Makes a tenant that no other test has, and returns the URL of its operations. */
  String createTenant() throws Exception {
    var id = UUID.randomUUID().toString();
    post(url + "/v1/tenants/create", "{\"id\": \"%s\", \"name\": \"%s\"}".formatted(id, id));
    var tenant = url + "/v1/tenants/" + id;
    post(tenant + "/schemas/write", "{\"schema\": \"%s\"}".formatted(SCHEMA));
    return tenant;
  }

  String check(String tenant, String user) throws Exception {
    return post(
        tenant + "/permissions/check",
        """
        {"metadata": {},
         "entity": {"type": "document", "id": "plan"},
         "permission": "view",
         "subject": {"type": "user", "id": "%s"}}"""
            .formatted(user));
  }

  String post(String address, String body) throws Exception {
    var request = HttpRequest.newBuilder(URI.create(address)).POST(BodyPublishers.ofString(body));
    var answer = http.send(request.build(), BodyHandlers.ofString());
    assertEquals(200, answer.statusCode(), answer.body());
    return answer.body();
  }
}
