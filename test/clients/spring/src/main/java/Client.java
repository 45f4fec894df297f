import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import org.springframework.graphql.client.ClientGraphQlResponse;
import org.springframework.graphql.client.GraphQlClient;
import org.springframework.graphql.client.HttpGraphQlClient;
import org.springframework.graphql.client.SubscriptionErrorException;
import org.springframework.graphql.client.WebSocketGraphQlClient;
import org.springframework.graphql.client.WebSocketGraphQlClientInterceptor;
import org.springframework.web.reactive.function.client.WebClient;
import org.springframework.web.reactive.socket.client.ReactorNettyWebSocketClient;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/** Does what a test tells it on standard input, a line of JSON each, and tells what comes. */
public final class Client {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final PrintStream OUT = new PrintStream(System.out, true, StandardCharsets.UTF_8);
  private static final String GATEWAY = System.getenv("GATEWAY");
  private static final String TOKEN = System.getenv("TOKEN");

  public static void main(String[] args) throws Exception {
    GraphQlClient client = System.getenv("TRANSPORT").equals("server-sent events") ? http() : webSocket();
    Map<String, Disposable> running = new HashMap<>();
    var lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      JsonNode command = JSON.readTree(line);
      String id = command.get("id").asText();
      if (command.has("stop")) {
        running.get(id).dispose();
      } else {
        running.put(id, subscribe(client, id, command));
      }
    }
    System.exit(0);
  }

  private static GraphQlClient webSocket() {
    var interceptor = new WebSocketGraphQlClientInterceptor() {
      @Override
      public Mono<Object> connectionInitPayload() {
        return Mono.just(Map.of("token", TOKEN));
      }
    };
    return WebSocketGraphQlClient.builder("ws://" + GATEWAY + "/graphql", new ReactorNettyWebSocketClient())
        .interceptor(interceptor)
        .build();
  }

  private static GraphQlClient http() {
    WebClient client = WebClient.builder()
        .baseUrl("http://" + GATEWAY + "/graphql")
        .defaultHeader("authorization", "Bearer " + TOKEN)
        .build();
    return HttpGraphQlClient.create(client);
  }

  @SuppressWarnings("unchecked")
  private static Disposable subscribe(GraphQlClient client, String id, JsonNode command) {
    return client.document(command.get("query").asText())
        .variables(JSON.convertValue(command.get("variables"), Map.class))
        .executeSubscription()
        .subscribe(
            response -> tellResult(id, response),
            error -> tell(id, "error", wordsOf(error)),
            () -> tell(id, "isComplete", true));
  }

  private static void tellResult(String id, ClientGraphQlResponse response) {
    if (response.getErrors().isEmpty()) {
      tell(id, "data", response.getData());
    } else {
      tell(id, "error", response.getErrors().toString());
    }
  }

  private static String wordsOf(Throwable error) {
    return error instanceof SubscriptionErrorException refused ? refused.getErrors().toString() : error.toString();
  }

  private static synchronized void tell(String id, String name, Object value) {
    try {
      OUT.println(JSON.writeValueAsString(Map.of("id", id, name, value)));
    } catch (Exception error) {
      throw new IllegalStateException(error);
    }
  }
}
