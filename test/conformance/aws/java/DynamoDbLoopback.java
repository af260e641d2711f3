import org.eclipse.jetty.server.Connector;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;

/** DynamoDB Local listens on every interface and has no option for it; this binds it to loopback before it starts. */
public class DynamoDbLoopback {
  public static void main(String[] arguments) throws Exception {
    var runner = software.amazon.dynamodb.services.local.main.ServerRunner
        .createServerFromCommandLineArgs(arguments);
    var field = runner.getClass().getDeclaredField("server");
    field.setAccessible(true);
    for (Connector connector : ((Server) field.get(runner)).getConnectors()) {
      ((ServerConnector) connector).setHost("127.0.0.1");
    }
    runner.start();
    runner.join();
  }
}
