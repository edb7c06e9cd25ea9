#include "firn/http/client/http_client.h"

#include <atomic>
#include <memory>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "support/scripted_http_server.h"

namespace firn::http {
namespace {

using test::HttpAsked;
using test::ScriptedHttpServer;

ScriptedHttpServer::Script Always(std::string answer) {
  return [answer = std::move(answer)](const HttpAsked&) { return answer; };
}

TEST(HttpClient, GivesStatusHeadersAndBody) {
  ScriptedHttpServer server(
      Always("HTTP/1.1 503 Busy\r\nX-Reason:  later \r\nContent-Length: 5\r\n\r\nhello"));
  const Result<HttpResponse> response = MakeHttpClient({.use_proxy = false})->Get(server.Url("/status?x=1"));
  ASSERT_TRUE(response.ok()) << response.error().ToString();
  EXPECT_EQ(response->status, 503);
  EXPECT_EQ(response->body, "hello");
  EXPECT_EQ(response->headers.front(), (std::pair<std::string, std::string>("x-reason", "later")));
  EXPECT_EQ(server.asked().front().method, "GET");
  EXPECT_EQ(server.asked().front().target, "/status?x=1");
}

TEST(HttpClient, BodyAboveTheLimitIsAnError) {
  ScriptedHttpServer server(Always("HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\nhello world"));
  const Result<HttpResponse> response =
      MakeHttpClient({.max_body_bytes = 10, .use_proxy = false})->Get(server.Url("/"));
  ASSERT_FALSE(response.ok());
  EXPECT_EQ(response.error().kind(), ErrorKind::kResourceExhausted);
}

TEST(HttpClient, SilentServerTimesOut) {
  ScriptedHttpServer server([](const HttpAsked&) { return std::nullopt; });
  const Result<HttpResponse> response =
      MakeHttpClient({.timeout_ms = 100, .use_proxy = false})->Get(server.Url("/"));
  ASSERT_FALSE(response.ok());
  EXPECT_EQ(response.error().kind(), ErrorKind::kTimeout);
}

TEST(HttpClient, TellsOnceThatTheRequestHasLeftBeforeTheAnswerComes) {
  std::atomic<int> told = 0;
  int told_when_answered = -1;
  ScriptedHttpServer server([&](const HttpAsked&) {
    while (told == 0) std::this_thread::yield();
    told_when_answered = told;
    return ScriptedHttpServer::Text(200, "text/plain", "done");
  });
  const std::string body(200'000, 'x');
  HttpRequest request{.method = "POST", .url = server.Url("/"), .body = body};
  request.on_sent = [&] {
    ++told;
    return Ok();
  };
  const Result<HttpResponse> response = MakeHttpClient({.use_proxy = false})->Send(request);
  ASSERT_TRUE(response.ok()) << response.error().ToString();
  EXPECT_EQ(told_when_answered, 1);
  EXPECT_EQ(told, 1);
}

TEST(HttpClient, ErrorOnceSentEndsTheExchangeAsOneThatMayHaveHappened) {
  ScriptedHttpServer server(Always("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"));
  HttpRequest request{.method = "POST", .url = server.Url("/"), .body = "x"};
  request.on_sent = [] { return Status(Error(ErrorKind::kUnavailable, "no more")); };
  const Result<HttpResponse> response = MakeHttpClient({.use_proxy = false})->Send(request);
  ASSERT_FALSE(response.ok());
  EXPECT_EQ(response.error().kind(), ErrorKind::kIo);
  EXPECT_NE(response.error().message().find("no more"), std::string::npos);
}

TEST(HttpClient, NobodyListeningIsUnavailable) {
  std::string url;
  {
    ScriptedHttpServer server(Always("x"));
    url = server.Url("/");
  }
  const Result<HttpResponse> response = MakeHttpClient({.use_proxy = false})->Get(url);
  ASSERT_FALSE(response.ok());
  EXPECT_EQ(response.error().kind(), ErrorKind::kUnavailable);
}

TEST(HttpClient, OtherSchemesAreRefused) {
  const Result<HttpResponse> response = MakeHttpClient({.use_proxy = false})->Get("file:///etc/passwd");
  ASSERT_FALSE(response.ok());
  EXPECT_EQ(response.error().kind(), ErrorKind::kInvalidArgument);
}

/// Answers the first request and closes the connection on the second one, as a server does that lets an idle
/// connection go.
ScriptedHttpServer::Script ClosesOnSecondOf(const std::shared_ptr<int>& requests) {
  return [requests](const HttpAsked&) {
    return ++*requests == 2 ? std::string() : ScriptedHttpServer::Text(200, "text/plain", "done");
  };
}

TEST(HttpClient, AtMostOnceIsNotRepeatedOnAConnectionThatDied) {
  auto requests = std::make_shared<int>(0);
  ScriptedHttpServer server(ClosesOnSecondOf(requests));
  const auto client = MakeHttpClient({.use_proxy = false});
  ASSERT_TRUE(client->Get(server.Url("/")).ok());
  const Result<HttpResponse> response =
      client->Send({.method = "POST", .url = server.Url("/commit"), .body = "x", .at_most_once = true});
  ASSERT_FALSE(response.ok());
  EXPECT_EQ(response.error().kind(), ErrorKind::kIo);  // it may have reached the server
  EXPECT_EQ(server.asked().size(), 2U);
  EXPECT_NE(server.asked()[0].connection, server.asked()[1].connection);
}

TEST(HttpClient, OthersAreRepeatedOnAConnectionThatDied) {
  auto requests = std::make_shared<int>(0);
  ScriptedHttpServer server(ClosesOnSecondOf(requests));
  const auto client = MakeHttpClient({.use_proxy = false});
  ASSERT_TRUE(client->Get(server.Url("/")).ok());
  ASSERT_TRUE(client->Get(server.Url("/again")).ok());
  EXPECT_EQ(server.asked().size(), 3U);
}

}  // namespace
}  // namespace firn::http
